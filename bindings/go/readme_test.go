package deadpan_test

import (
	"os"
	"strings"
	"testing"
)

// Checks that the Go code in README.md is part of the examples, which `go test` runs.
func TestTheReadmeShowsTheExamples(t *testing.T) {
	readme := string(must(os.ReadFile("README.md"))(t))
	examples := flat(string(must(os.ReadFile("example_test.go"))(t)))
	blocks := strings.Split(readme, "```go\n")[1:]
	if len(blocks) < 2 {
		t.Fatalf("only %d blocks of Go in the README", len(blocks))
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		if !strings.Contains(examples, flat(block)) {
			t.Errorf("no example has this:\n%s", block)
		}
	}
}

func flat(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
