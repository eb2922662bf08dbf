/**
 * Measures what people do first in a process that has just started: plain JavaScript, so that nothing else is loaded.
 *
 * Usage: fresh.mjs MODULE MEASURE PATH, where MEASURE is "import", "open" (context included) or "import and open".
 */
const [module = "", measure = "", path = ""] = process.argv.slice(2);
const rssBeforeMb = process.memoryUsage().rss / 1e6;
const start = performance.now();
const { SessionManager } = await import(module);
const imported = performance.now();
const result = measure === "import" ? 1 : SessionManager.open(path).buildSessionContext().messages.length;
const end = performance.now();
const from = measure === "open" ? imported : start;
const rssMb = process.resourceUsage().maxRSS / 1e3;
console.log(JSON.stringify({ ms: end - from, result, rssBeforeMb, rssMb }));
