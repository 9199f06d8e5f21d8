/* What the search shows first. A word that is found in a title counts 15, a name up to 21, a word of a text 5;
   to that is added what kind of page it is, and more where its title has all words of the query. */
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
  score: ([place, title, , name, score]) => {
    const project = ["benchmarks", "changelog", "contributing", "releasing", "reports", "security", "support"];
    const folders = { commands: 2, api: 0, examples: -2 };
    const [folder, rest] = place.split("/");
    const chapter = rest === undefined && !project.includes(folder);
    const query = new URLSearchParams(location.search).get("q") ?? "";
    const words = query.toLowerCase().split(/\s+/).filter(word => word.length > 2);
    const named = name === null && words.length && words.every(word => title.toLowerCase().includes(word));
    return score + (chapter ? 4 : folders[folder] ?? 1) + (named ? 10 : 0);
  },
};
