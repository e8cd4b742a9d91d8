package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A hint of the store is read by people of every front end, so it names no words of one. It says what to do, and the
// field of the error lets a front end add how.
func TestHintsAreOfNoFrontEnd(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	hints := 0
	look := func(n ast.Node) {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return
		}
		hint, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		hints++
		for _, word := range []string{"--", "`", " ls", "ls "} {
			if strings.Contains(hint, word) {
				t.Errorf("%s: the hint %q holds %q, which is of one front end", set.Position(lit.Pos()), hint, word)
			}
		}
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Hinted" {
					look(n.Args[0])
				}
			case *ast.CompositeLit:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == "meaning" && len(n.Elts) > 2 {
					look(n.Elts[2])
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok && id.Name == "Hint" {
					look(n.Value)
				}
			}
			return true
		})
	}
	if hints < 20 {
		t.Errorf("found only %d hints", hints)
	}
}
