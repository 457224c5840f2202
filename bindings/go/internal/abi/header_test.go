package abi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The two files that declare the functions are written by hand. This test compares the two files with deadpan.h.

const header = "../../../../crates/capi/include/deadpan.h"

const kinds = "error|private_key|public_key|passphrase|session|sealing|opening|work|reader|writer"

var (
	comments   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	spaces     = regexp.MustCompile(`\s+`)
	prototypes = regexp.MustCompile(`(?:int32_t|const char \*)\s*(dp_\w+)\([^;]*\);`)
	handles    = regexp.MustCompile(`(?:const )?dp_(?:` + kinds + `) \*`)
)

// declared returns the prototypes in a C text, with the names of the functions as keys. In the prototypes, handles are
// numbers.
func declared(text string) map[string]string {
	found := map[string]string{}
	for _, match := range prototypes.FindAllStringSubmatch(spaces.ReplaceAllString(text, " "), -1) {
		prototype := handles.ReplaceAllStringFunc(match[0], func(string) string { return "uintptr_t " })
		found[match[1]] = strings.ReplaceAll(prototype, "void *user", "uintptr_t user")
	}
	return found
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDeclarationsAreThoseOfTheHeader(t *testing.T) {
	wanted := declared(comments.ReplaceAllString(readText(t, header), ""))
	if len(wanted) < 60 {
		t.Fatalf("only %d functions in the header", len(wanted))
	}
	declarations, arguments := declared(readText(t, "cgo.go")), argumentsIn(t, "purego.go")
	// Go does not call these functions.
	for _, unused := range []string{"dp_error_code", "dp_work_watch"} {
		delete(wanted, unused)
	}
	for name, prototype := range wanted {
		if got := declarations[name]; got != prototype {
			t.Errorf("cgo.go declares %s otherwise:\n%s\n%s", name, got, prototype)
		}
		parameters := strings.Count(prototype, ",") + 1
		if strings.Contains(prototype, "(void)") {
			parameters = 0
		}
		if got, ok := arguments[name]; !ok || got != parameters {
			t.Errorf("purego.go calls %s with %d arguments, and not %d", name, got, parameters)
		}
	}
	for name := range declarations {
		if wanted[name] == "" {
			t.Errorf("cgo.go declares %s, which the header does not have", name)
		}
	}
}

// argumentsIn returns the number of arguments that purego.go passes to each function of the library.
func argumentsIn(t *testing.T, path string) map[string]int {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names, counts := map[string]string{}, map[string]int{}
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if made, ok := spec.Values[0].(*ast.CallExpr); ok && calls(made, "add") {
				names[spec.Names[0].Name] = strings.Trim(made.Args[0].(*ast.BasicLit).Value, `"`)
			}
		}
		return true
	})
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if ok && (calls(call, "call") || calls(call, "fromC")) {
			function := call.Args[0].(*ast.Ident).Name
			if _, twice := counts[names[function]]; twice {
				t.Errorf("%s is called twice", function)
			}
			counts[names[function]] = len(call.Args) - 1
		}
		return true
	})
	return counts
}

func calls(call *ast.CallExpr, name string) bool {
	function, ok := call.Fun.(*ast.Ident)
	return ok && function.Name == name
}
