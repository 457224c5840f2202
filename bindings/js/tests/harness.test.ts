import { equal, files, ok, rejects, test } from "./harness.ts";

test("equal sees each difference", async () => {
    const value = () => ({ a: [1, { b: new Uint8Array([1, 2]) }], c: undefined });
    equal(value(), value());
    for (const [found, wanted] of [
        [1, 2],
        [1, "1"],
        [undefined, null],
        [0, -0],
        [new Uint8Array(2), new Uint8Array(3)],
        [new Uint8Array([1]), [1]],
        [value(), { ...value(), c: 1 }],
        [value(), { a: [1, { b: new Uint8Array([1, 3]) }], c: undefined }],
        [[1], [1, 2]],
        [{}, []],
    ]) {
        await rejects(() => equal(found, wanted), Error, /instead of/);
    }
});

test("rejects sees another error, and none", async () => {
    await rejects(Promise.reject(new RangeError("a range")), RangeError, /range/);
    const failing = () => Promise.reject(new RangeError("a range"));
    for (const wrong of [
        () => rejects(failing, TypeError),
        () => rejects(failing, RangeError, /x/),
        () => rejects(() => 1, Error),
    ]) {
        await rejects(wrong, Error);
    }
});

test("the files of the repository", async () => {
    const names = await files.list("tests/frozen/0.2.0/keys");
    ok(names.includes("xwing.key"), "the name of a file is listed");
    equal(names, [...names].sort());
    const key = await files.read("tests/frozen/0.2.0/keys/xwing.key");
    ok(new TextDecoder().decode(key).startsWith("-----BEGIN PRIVATE KEY-----"), "a file is read");
    equal(await files.read("tests/frozen/0.2.0/keys/absent"), undefined);
    equal(await files.read("tests/frozen/0.2.0/keys"), undefined, "a folder is no file");
    equal(await files.list("tests/frozen/absent"), []);
    equal(await files.list("tests/frozen/0.2.0/keys/xwing.key"), []);
});
