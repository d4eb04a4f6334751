// Searches the index of index.js: every word must occur; a hit in a title counts most.
(() => {
  "use strict";
  const form = document.getElementById("search");
  const input = form.querySelector("input");
  const list = document.getElementById("found");
  const root = document.body.dataset.root;
  const most = 12;

  const score = (item, words) => {
    let sum = 0;
    for (const word of words) {
      const title = item.title.indexOf(word), page = item.page.indexOf(word), text = item.text.indexOf(word);
      if (title < 0 && page < 0 && text < 0) return 0;
      sum += (title === 0 ? 20 : title > 0 ? 12 : 0) + (page >= 0 ? 6 : 0) + (text >= 0 ? 1 : 0);
    }
    return sum;
  };

  const items = window.searchIndex.map((entry) => ({
    entry, title: entry.T.toLowerCase(), page: entry.P.toLowerCase(), text: entry.X.toLowerCase(),
  }));

  // excerpt returns nodes: no text of a page is ever taken for HTML.
  const excerpt = (item, word) => {
    const at = item.text.indexOf(word);
    const line = document.createElement("small");
    if (at < 0) { line.textContent = item.entry.X.slice(0, 110); return line; }
    const from = Math.max(0, at - 45);
    const mark = document.createElement("mark");
    mark.textContent = item.entry.X.slice(at, at + word.length);
    line.append((from ? "…" : "") + item.entry.X.slice(from, at), mark, item.entry.X.slice(at + word.length, at + 75));
    return line;
  };

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.replaceChildren();
    list.hidden = words.length === 0;
    if (list.hidden) return;
    const hits = items.map((item) => [score(item, words), item]).filter(([n]) => n > 0)
      .sort((a, b) => b[0] - a[0]).slice(0, most);
    for (const [, item] of hits) {
      const link = document.createElement("a");
      link.href = root + item.entry.U;
      const title = document.createElement("strong");
      title.textContent = item.entry.T === item.entry.P ? item.entry.P : item.entry.P + " › " + item.entry.T;
      link.append(title, excerpt(item, words[0]));
      const row = document.createElement("li");
      row.append(link);
      list.append(row);
    }
    if (!hits.length) list.append(Object.assign(document.createElement("li"), { textContent: "Nothing was found." }));
  };

  const move = (step) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.findIndex((link) => link.classList.contains("at"));
    links[at]?.classList.remove("at");
    links[(at + step + links.length) % links.length]?.classList.add("at");
  };

  input.addEventListener("input", show);
  input.addEventListener("keydown", (e) => {
    if (e.key === "ArrowDown") move(1);
    else if (e.key === "ArrowUp") move(-1);
    else if (e.key === "Escape") { input.value = ""; show(); }
    else return;
    e.preventDefault();
  });
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    (list.querySelector("a.at") || list.querySelector("a"))?.click();
  });
  document.addEventListener("keydown", (e) => {
    if (e.key === "/" && document.activeElement !== input) { e.preventDefault(); input.focus(); }
  });
})();
