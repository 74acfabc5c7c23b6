"use strict";
/* The page's data: names in it are foreign and go into the page as text only, never as HTML. */
const DATA = JSON.parse(document.getElementById("data").textContent);
