"use strict";
/* Where the nodes stand: Dagre lays out the members of each open group in layers, and a group is a box to the one around
   it. So the time is that of the groups that are open, and unfolding one lays out that group and those around it. Edges
   that leave a group go through one gate at its top or bottom. */

const NODE = { width: 150, height: 34 };
const FOLDED = { width: 170, height: 44 };
const TITLE = 24;
const MARGIN = 16;
const [ENTRY, EXIT] = ["entry", "exit"];

class Layout {
  constructor(folding) {
    this.folding = folding;
    this.known = new Map(); // group and the sizes of its members -> their layout
  }

  /* Width and height of an item, and of an open group where its members stand and how its edges run. */
  of(key) {
    const item = this.folding.items.get(key);
    if (!item.members) return NODE;
    if (!this.folding.open.has(key)) return FOLDED;
    const sizes = item.members.map((one) => [one, this.of(one)]);
    const state = `${key}:${sizes.map(([, one]) => `${one.width | 0}x${one.height | 0}`).join()}`;
    if (!this.known.has(state)) this.known.set(state, this.arrange(item, sizes));
    return this.known.get(state);
  }

  arrange(group, sizes) {
    const graph = new dagre.graphlib.Graph();
    graph.setGraph({ nodesep: 24, edgesep: 12, ranksep: 26 });
    for (const [key, { width, height }] of sizes) graph.setNode(key, { width, height });
    for (const [source, target] of group.inner.values()) graph.setEdge(source, target, {});
    const members = sizes.map(([key]) => key);
    this.gate(graph, ENTRY, group.enters, members.filter((one) => !graph.inEdges(one).length), (gate, one) => graph.setEdge(gate, one, {}));
    this.gate(graph, EXIT, group.leaves, members.filter((one) => !graph.outEdges(one).length), (gate, one) => graph.setEdge(one, gate, {}));
    dagre.layout(graph);
    const { width = 0, height = 0 } = graph.graph();
    const isWhole = group.parent === null;
    const left = isWhole ? 0 : MARGIN;
    const top = isWhole ? 0 : group.enters.size ? TITLE / 2 : TITLE + MARGIN / 2; // a gate stands behind the title
    const bottom = isWhole || group.leaves.size ? 0 : MARGIN;
    const moved = ({ x, y }) => ({ x: x + left, y: y + top });
    const found = { width: width + 2 * left, height: height + top + bottom, places: new Map(), routes: new Map() };
    for (const one of graph.nodes()) found.places.set(one, moved(graph.node(one)));
    for (const { v, w } of graph.edges()) found.routes.set(`${v} ${w}`, graph.edge(v, w).points.slice(1, -1).map(moved));
    return found;
  }

  /* A gate is above, or below, all members: also of those that need no edge through it. */
  gate(graph, name, users, ends, join) {
    if (!users.size) return;
    graph.setNode(name, { width: 1, height: 1 });
    for (const one of new Set([...users, ...ends])) join(name, one);
  }

  /* The centres of all that is shown, the boxes of open groups among them: key -> {x, y, width, height}. */
  places() {
    const found = new Map();
    const put = (key, left, top) => {
      const { places } = this.of(key);
      for (const member of this.folding.items.get(key).members) {
        const { width, height } = this.of(member);
        const { x, y } = places.get(member);
        found.set(member, { x: left + x, y: top + y, width, height });
        if (this.folding.open.has(member)) put(member, left + x - width / 2, top + y - height / 2);
      }
    };
    put("", 0, 0);
    return found;
  }

  /* The points that an edge bends at between two shown items. */
  bends(source, target, places) {
    const { left, a, b, entered } = this.folding.way(source, target);
    const gate = (group, name) => this.absolute(group, this.of(group).places.get(name), places);
    const up = left.flatMap(({ key, parent }) => [...this.route(parent, key, EXIT, places), gate(parent, EXIT)]);
    const down = entered.flatMap(({ key, parent }) => [gate(parent, ENTRY), ...this.route(parent, ENTRY, key, places)]);
    return [...up, ...this.route(a.parent, a.key, b.key, places), ...down];
  }

  route(group, from, to, places) {
    const points = this.of(group).routes.get(`${from} ${to}`) || [];
    return points.map((point) => this.absolute(group, point, places));
  }

  absolute(group, { x, y }, places) {
    if (group === "") return { x, y };
    const box = places.get(group);
    return { x: box.x - box.width / 2 + x, y: box.y - box.height / 2 + y };
  }
}
