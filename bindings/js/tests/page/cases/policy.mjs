/** The page's policy: whatever runs in the page, nothing leaves it, and no other code comes in. */

import { createHash } from "node:crypto";
import { equal, ok, test } from "../cases.mjs";

/** What could send something, or navigate away. The page's own code has none of it. */
const WAYS_OUT = new RegExp(
    [
        String.raw`\b(?:XMLHttpRequest|WebSocket|WebTransport|EventSource|RTCPeerConnection)\b`,
        String.raw`\b(?:sendBeacon|importScripts|serviceWorker|localStorage|sessionStorage|indexedDB|cookie)\b`,
        String.raw`\bimport\(|\bwindow\.open|\.submit\(`,
        String.raw`\blocation\s*=[^=]|\blocation\.(?:href\s*=[^=]|assign|replace|reload|hash|search)`,
    ].join("|"),
);
/** What makes elements or code from text. */
const FROM_TEXT = new RegExp(
    [
        String.raw`\b(?:innerHTML|outerHTML|insertAdjacentHTML|setHTML|setHTMLUnsafe|createContextualFragment)\b`,
        String.raw`\b(?:DOMParser|srcdoc|eval)\b|\bdocument\.write|\bnew Function\b|\bFunction\(`,
    ].join("|"),
);

/** Returns the page, its policy, and the text of its style and code. @param {import("../room.mjs").Room} room */
function parts(room) {
    const html = room.html.toString();
    return {
        html,
        policy: /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html)?.[1] ?? "",
        style: /<style>(.*?)<\/style>/s.exec(html)?.[1] ?? "",
        code: /<script id="code">(.*?)<\/script>/s.exec(html)?.[1] ?? "",
    };
}

test("the policy is the strict one, comes first, and has the hashes of the style and the code", async room => {
    const { html, policy, style, code } = parts(room);
    /** @param {string} text */
    const hash = text => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    equal(
        policy.split("; "),
        [
            "default-src 'none'",
            `script-src ${hash(code)} 'wasm-unsafe-eval'`,
            `style-src ${hash(style)}`,
            "worker-src blob:",
            "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types deadpan",
        ],
        "the policy",
    );
    ok(
        html.indexOf("http-equiv") < Math.min(html.indexOf("<script"), html.indexOf("<style")),
        "the policy comes too late",
    );
    equal(html.match(/<(?:script|style|link|iframe|img|object|embed|base)\b/g), ["<style", "<script"], "elements");
    equal(html.match(/ on\w+=| href=| src=| style=/g), null, "attributes");
});

test("the page begins and ends as programs expect it, and holds nothing that they take for armor", async room => {
    const { html } = parts(room);
    ok(html.startsWith("<!doctype html>\n<!-- Deadpan page -->\n"), "the first lines");
    ok(html.endsWith("</html>\n"), "the end");
    ok(!/^-----BEGIN/m.test(html), "a line begins like armor");
    ok(!html.includes('id="deadpan-sealed"'), "there is an element for a sealed file");
    ok(room.html.length < 1 << 20, "the page is longer than 1 MiB");
    ok(!html.includes("\r") && !html.includes("\0"), "bytes that parsers of HTML change");
});

test("the page's code has no way out, and makes nothing from text", async room => {
    const { code } = parts(room);
    ok(code.length > 100_000, "the code is missing");
    equal([WAYS_OUT.exec(code)?.[0], FROM_TEXT.exec(code)?.[0]], [undefined, undefined], "what the code uses");
    // The decoder of Zstandard asks for its own code at a `data:` address, and gets it from a function that the package
    // puts in the place of `fetch` meanwhile.
    const fetches = code.replaceAll("typeof fetch", "").match(/(?<![.{\w])fetch\b.{0,30}/g) ?? [];
    equal(
        fetches.map(use => use.slice(0, 30)),
        ["fetch(`data:application/wasm;b"],
        "uses of fetch",
    );
});

test("nothing that runs in the page can send anything", async room => {
    const visit = await room.visit();
    const base = room.url.replace(/[^/]*$/, "");
    const tried = await visit.page.evaluate(async base => {
        /** @type {Record<string, () => unknown>} */
        const ways = {
            fetch: () => fetch(`${base}fetch`),
            "fetch without CORS": () => fetch(`${base}fetch`, { mode: "no-cors", method: "POST", body: "secret" }),
            "fetch that lives on": () => fetch(`${base}keep`, { keepalive: true, method: "POST", body: "secret" }),
            XMLHttpRequest: () => {
                const request = new XMLHttpRequest();
                request.open("GET", `${base}request`);
                request.send();
            },
            WebSocket: () => new WebSocket(`${base.replace("http", "ws")}socket`),
            EventSource: () => new EventSource(`${base}events`),
            beacon: () => navigator.sendBeacon(`${base}beacon`, "secret"),
            image: () => Object.assign(new Image(), { src: `${base}image` }),
            audio: () => new Audio(`${base}audio`).load(),
            frame: () => document.body.append(Object.assign(document.createElement("iframe"), { src: `${base}frame` })),
            object: () =>
                document.body.append(Object.assign(document.createElement("object"), { data: `${base}object` })),
            embed: () => document.body.append(Object.assign(document.createElement("embed"), { src: `${base}embed` })),
            style: () => {
                const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `${base}style` });
                document.head.append(link);
            },
            font: async () => {
                const font = new FontFace("other", `url(${base}font)`);
                await font.load();
            },
            background: () => (document.body.style.backgroundImage = `url(${base}background)`),
            manifest: () => {
                const link = Object.assign(document.createElement("link"), {
                    rel: "manifest",
                    href: `${base}manifest`,
                });
                document.head.append(link);
            },
            prefetch: () => {
                const link = Object.assign(document.createElement("link"), {
                    rel: "prefetch",
                    href: `${base}prefetch`,
                });
                document.head.append(link);
            },
            preload: () => {
                const link = Object.assign(document.createElement("link"), {
                    rel: "preload",
                    as: "script",
                    href: `${base}preload`,
                });
                document.head.append(link);
            },
            icon: () => {
                const link = Object.assign(document.createElement("link"), { rel: "icon", href: `${base}icon` });
                document.head.append(link);
            },
            picture: () => {
                const space = "http://www.w3.org/2000/svg";
                const image = document.createElementNS(space, "image");
                image.setAttribute("href", `${base}picture`);
                const svg = document.createElementNS(space, "svg");
                svg.append(image);
                document.body.append(svg);
            },
            form: () => {
                const form = Object.assign(document.createElement("form"), { action: `${base}form`, method: "post" });
                document.body.append(form);
                form.submit();
            },
            ping: () => {
                const link = Object.assign(document.createElement("a"), { href: "#", ping: `${base}ping` });
                document.body.append(link);
                link.click();
            },
            module: () => import(`${base}module`),
            thread: () => new Worker(`${base}thread`),
            "service worker": () => navigator.serviceWorker.register(`${base}service`),
        };
        /** @type {Record<string, string>} */
        const results = {};
        for (const [name, way] of Object.entries(ways)) {
            try {
                const result = await way();
                results[name] = result instanceof Response ? `an answer: ${result.status}` : "";
            } catch (why) {
                results[name] = String(why);
            }
        }
        await new Promise(resolve => setTimeout(resolve, 300));
        return results;
    }, base);
    ok(!Object.values(tried).some(result => result.startsWith("an answer")), "there was an answer");
    equal(room.asked, [], "what the server was asked for");
    const complaints = (await visit.complaints()).filter(complaint => complaint.startsWith("against the policy"));
    for (const directive of [
        "connect-src",
        "img-src",
        "media-src",
        "frame-src",
        "style-src",
        "font-src",
        "form-action",
    ]) {
        ok(
            complaints.some(complaint => complaint.includes(directive)),
            `${directive} was not in force: ${complaints}`,
        );
    }
});

test("no other code runs in the page", async room => {
    const visit = await room.visit();
    const { ran, thrown } = await visit.page.evaluate(async () => {
        // What the debugger of Chromium calls may use `eval`. What a timer calls is code like the page's own.
        await new Promise(resolve => setTimeout(resolve, 0));
        const code = "(globalThis.ran ??= []).push";
        /** @type {string[]} */
        const thrown = [];
        /** @type {(() => unknown)[]} */
        const ways = [
            // A script whose text was set in a way that the policy for types allows.
            () => {
                const script = document.createElement("script");
                script.append(`${code}("a script")`);
                document.body.append(script);
            },
            () => {
                const script = document.createElement("script");
                script.src = `data:text/javascript,${code}("an address with data")`;
                document.body.append(script);
            },
            () => document.body.setAttribute("onclick", `${code}("a handler")`),
            () => (document.body.innerHTML += `<img src=x onerror='${code}("markup")'>`),
            () => eval(`${code}("eval")`),
            () => new Function(`${code}("a function")`)(),
            () => setTimeout(`${code}("a timer")`, 0),
            () => {
                const link = document.createElement("a");
                link.href = `javascript:${code}("an address with code")`;
                document.body.append(link);
                link.click();
            },
            () =>
                document.body.append(
                    document.createRange().createContextualFragment(`<script>${code}("a fragment")</script>`),
                ),
            () => import(`data:text/javascript,${code}("a module")`),
            () => new Worker(URL.createObjectURL(new Blob(["postMessage(1)"]))),
            () => /** @type {any} */ (globalThis).trustedTypes.createPolicy("other", {}),
            () => /** @type {any} */ (globalThis).trustedTypes.createPolicy("deadpan", {}),
        ];
        for (const way of ways) {
            try {
                await way();
                thrown.push("");
            } catch (why) {
                thrown.push(why instanceof Error ? why.name : String(why));
            }
        }
        document.body.click();
        await new Promise(resolve => setTimeout(resolve, 200));
        return { ran: /** @type {{ ran?: string[] }} */ (/** @type {unknown} */ (globalThis)).ran ?? [], thrown };
    });
    equal(ran, [], "what ran");
    // These have to fail at once: they need text that becomes code or markup, or a policy for types.
    equal(thrown.slice(3, 6).concat(thrown.slice(10)).includes(""), false, `what was refused: ${thrown}`);
    ok((await visit.complaints()).length > 0, "the policy says nothing");
});

test("what happens in the page's threads is bound by the same policy", async room => {
    const visit = await room.visit();
    const base = room.url.replace(/[^/]*$/, "");
    // The page's own code makes its threads with a policy for types, which other code has to steal for this.
    await visit.page.evaluateOnNewDocument(() => {
        const { trustedTypes } = /** @type {any} */ (globalThis);
        const create = trustedTypes.createPolicy.bind(trustedTypes);
        /** @param {string} name @param {unknown} rules */
        trustedTypes.createPolicy = (name, rules) => {
            const stolen = create(name, rules);
            Object.assign(globalThis, { stolen });
            return stolen;
        };
    });
    await visit.page.reload();
    const answer = await visit.page.evaluate(base => {
        const answers = '() => postMessage("sent"), () => postMessage("refused")';
        const code = `fetch(${JSON.stringify(base)} + "thread").then(${answers})`;
        const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
        const { stolen } = /** @type {any} */ (globalThis);
        const worker = new Worker(stolen.createScriptURL(address));
        return new Promise((resolve, reject) => {
            worker.onmessage = ({ data }) => resolve(data);
            worker.onerror = event => reject(new Error(event.message));
        });
    }, base);
    equal([answer, room.asked], ["refused", []], "a request of a thread");
    await visit.complaints();
});
