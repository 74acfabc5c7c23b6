"use strict";
/* A graph whose groups are folded or open: which nodes are shown, and which edges between them. */

const FEW = 45; // nodes that are shown at first, about

class Folding {
  constructor({ nodes, edges, groups }) {
    this.items = new Map([["", { key: "", kind: "whole", parent: null, members: [], depth: 0, count: 0, inner: new Map(), enters: new Set(), leaves: new Set() }]]);
    const named = (i) => (i < 0 ? "" : `g${i}`);
    groups.forEach(([kind, label, ref, parent], i) => this.add({ key: named(i), kind, label, ref, parent: named(parent), members: [] }));
    nodes.forEach(([key, kind, label, ref, group]) => this.add({ key, kind, label, ref, parent: named(group), members: null }));
    for (const item of this.items.values()) {
      if (!item.members) for (const outer of this.around(item)) outer.count += 1;
    }
    this.edges = edges.map(([source, target]) => [nodes[source][0], nodes[target][0]]);
    this.open = new Set([""]);
    this.lift();
    this.openFirst();
  }

  add(item) {
    const parent = this.items.get(item.parent);
    this.items.set(item.key, { ...item, depth: parent.depth + 1, count: 0, inner: new Map(), enters: new Set(), leaves: new Set() });
    parent.members.push(item.key);
  }

  /* The groups that an item stands in, the innermost first. */
  * around(item) {
    for (let one = item; one.parent !== null;) {
      one = this.items.get(one.parent);
      yield one;
    }
  }

  /* From one item to another: what leaves a group, the two members of one group between, and what enters one. */
  way(source, target) {
    const [left, entered] = [[], []];
    let [a, b] = [this.items.get(source), this.items.get(target)];
    while (a.parent !== b.parent) {
      if (a.depth >= b.depth) {
        left.push(a);
        a = this.items.get(a.parent);
      } else {
        entered.unshift(b);
        b = this.items.get(b.parent);
      }
    }
    return { left, a, b, entered };
  }

  /* For each group: edges between its members, the members that read from outside, and those that are read there. */
  lift() {
    for (const [source, target] of this.edges) {
      const { left, a, b, entered } = this.way(source, target);
      for (const one of left) this.items.get(one.parent).leaves.add(one.key);
      for (const one of entered) this.items.get(one.parent).enters.add(one.key);
      if (a !== b) this.items.get(a.parent).inner.set(`${a.key} ${b.key}`, [a.key, b.key]);
    }
    for (const item of this.items.values()) { // a branch or loop leads to its blocks
      const owner = item.kind === "block" && this.items.get(`o${item.ref}`);
      if (owner && owner.parent === item.parent) this.items.get(item.parent).inner.set(`${owner.key} ${item.key}`, [owner.key, item.key]);
    }
  }

  /* Opens the outer groups first, until enough is shown. */
  openFirst() {
    let shown = this.items.get("").members.length;
    const waiting = this.groupsIn("");
    while (waiting.length) {
      const group = waiting.shift();
      const more = group.members.length;
      if (shown + more > FEW) continue;
      shown += more;
      this.open.add(group.key);
      waiting.push(...this.groupsIn(group.key));
    }
  }

  groupsIn(key) {
    return this.items.get(key).members.map((one) => this.items.get(one)).filter((one) => one.members);
  }

  /* What stands for a node: itself, or the outermost folded group that it is in. */
  shownFor(key) {
    let found = this.items.get(key);
    for (const outer of this.around(found)) if (!this.open.has(outer.key)) found = outer;
    return found;
  }

  /* Opens all that hides a node; false if it is none of this graph. */
  reveal(key) {
    const item = this.items.get(key);
    if (!item) return false;
    for (const outer of this.around(item)) this.open.add(outer.key);
    return true;
  }

  toggle(key) {
    if (!this.open.delete(key)) this.open.add(key);
  }

  openAll() {
    for (const item of this.items.values()) if (item.members) this.open.add(item.key);
  }

  foldAll() {
    this.open = new Set([""]);
  }

  /* The nodes of a group, those of groups inside included. */
  * nodesOf(key) {
    for (const one of this.items.get(key).members) {
      const item = this.items.get(one);
      if (item.members) yield* this.nodesOf(one);
      else yield item;
    }
  }

  /* Edges between what is shown. */
  shownEdges() {
    const found = new Map();
    for (const [source, target] of this.edges) {
      const [a, b] = [this.shownFor(source).key, this.shownFor(target).key];
      if (a !== b) found.set(`${a} ${b}`, { source: a, target: b, owned: false });
    }
    for (const item of this.items.values()) {
      if (item.kind !== "block" || !this.items.has(`o${item.ref}`)) continue;
      const [a, b] = [this.shownFor(`o${item.ref}`).key, this.shownFor(item.key).key];
      if (a !== b) found.set(`${a} ${b}`, { source: a, target: b, owned: true });
    }
    return found;
  }
}
