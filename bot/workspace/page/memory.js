// What this browser remembers: who the page acts as, what was read, whether the greeting was sent away. Only comfort:
// without storage (private windows) the page works all the same.

const PREFIX = "pullcord.";

export function recall(key) {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null; // storage switched off
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem(PREFIX + key, value);
  } catch {
    console.info("This browser keeps nothing for this page.");
  }
}

// The place in the address: #as=approver&at=ops&thread=1796047200.000100. A permalink of the workspace leads here too.
export function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  return { as: parts.get("as"), at: parts.get("at"), thread: parts.get("thread") };
}

export function writeAddress(parts) {
  const query = new URLSearchParams(Object.entries(parts).filter(([, value]) => value));
  history.replaceState(null, "", `#${query}`);
}
