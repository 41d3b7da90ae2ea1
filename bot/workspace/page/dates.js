// Slack's date tokens and message times, in the viewer's own time zone.

const DAY_MS = 86_400_000;
const show = (date, options) => new Intl.DateTimeFormat(undefined, options).format(date);
const midnight = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();

const LONG = { weekday: "long", year: "numeric", month: "long", day: "numeric" };
const PLAIN = { year: "numeric", month: "long", day: "numeric" };
const SHORT = { year: "numeric", month: "short", day: "numeric" };

const whole = (time) => time.replaceAll(" ", "\u00a0"); // a line never breaks before PM

function near(date, now) {
  const days = Math.round((midnight(date) - midnight(now)) / DAY_MS);
  return { 0: "today", [-1]: "yesterday", 1: "tomorrow" }[days] ?? "";
}

function pretty(date, options, now) {
  return near(date, now) || show(date, options);
}

function ago(date, now) {
  const seconds = Math.round((date - now) / 1000);
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  for (const [unit, size] of [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ]) {
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  }
  return format.format(seconds, "second");
}

const TOKENS = {
  date_num: (d) => [d.getFullYear(), d.getMonth() + 1, d.getDate()].map((n) => String(n).padStart(2, "0")).join("-"),
  date: (d) => show(d, PLAIN),
  date_short: (d) => show(d, SHORT),
  date_long: (d) => show(d, LONG),
  date_pretty: (d, now) => pretty(d, PLAIN, now),
  date_short_pretty: (d, now) => pretty(d, SHORT, now),
  date_long_pretty: (d, now) => pretty(d, LONG, now),
  day_divider_pretty: (d, now) => pretty(d, LONG, now),
  time: (d) => whole(show(d, { hour: "numeric", minute: "2-digit" })),
  time_secs: (d) => whole(show(d, { hour: "numeric", minute: "2-digit", second: "2-digit" })),
  ago: (d, now) => ago(d, now),
};

// The text of one token; an unusable timestamp or an unknown placeholder gives the fallback.
export function formatDate(timestamp, format, fallback, now = new Date()) {
  const date = new Date(Number(timestamp) * 1000);
  if (Number.isNaN(date.getTime())) return fallback ?? "";
  let known = true;
  const text = String(format).replace(/\{(\w+)\}/g, (whole, name) => {
    if (!(name in TOKENS)) known = false;
    return known ? TOKENS[name](date, now) : whole;
  });
  return known ? text : (fallback ?? text);
}

export const fullDate = (timestamp) =>
  show(new Date(Number(timestamp) * 1000), { dateStyle: "full", timeStyle: "long" });
export const clock = (ts) => TOKENS.time(new Date(Number(ts) * 1000));
export const dayKey = (ts) => TOKENS.date_num(new Date(Number(ts) * 1000));
export const since = (ts) => ago(new Date(Number(ts) * 1000), new Date());

export function dayLabel(ts) {
  const label = TOKENS.day_divider_pretty(new Date(Number(ts) * 1000), new Date());
  return label[0].toUpperCase() + label.slice(1);
}
