// These lines stand behind the list of targets in the lab's worker for JavaScript.
TARGETS.length = 0;
{
  const scalar = Buffer.alloc(32);
  // The first byte is 1, so that all scalars have the same length.
  const prepare = (input) => {
    input.copy(scalar);
    scalar[0] = 1;
  };
  const publicKey = require(process.argv[2]);
  TARGETS.push(["public-key", "secret:32", "bit,random", prepare, () => publicKey(scalar)]);
}
