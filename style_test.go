package hitchpost_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"testing"
)

const (
	maxFileLines     = 400
	maxFunctionLines = 60
)

func TestFilesAndFunctionsAreShort(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		if n := f.line(f.tree.FileEnd); n > maxFileLines {
			t.Errorf("%s has %d lines, more than %d: which second job has moved in? give it a file of its own",
				f.name, n, maxFileLines)
		}
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := f.line(fn.End()) - f.line(fn.Pos()) + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d: split it where its second job begins",
					f.at(fn), fn.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

func TestNoInit(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: init runs before anybody asked; make it a function that its user calls", f.at(fn))
			}
		}
	}
}

// Package variables may hold what never changes: sentinel errors, embedded files, compiled patterns, tables.
func TestPackagesHoldNoState(t *testing.T) {
	t.Parallel()
	byDir := map[string][]source{}
	for _, f := range sources(t) {
		if !f.test {
			byDir[f.dir] = append(byDir[f.dir], f)
		}
	}
	for _, files := range byDir {
		info, scope := resolve(files)
		for _, f := range files {
			for _, spec := range packageVars(f.tree) {
				for _, name := range spec.Names {
					if what := holdsState(spec, info); what != "" {
						t.Errorf("%s: %s keeps %s for the whole process; put it into the value that needs it",
							f.at(name), name.Name, what)
					}
				}
			}
			for _, id := range written(f.tree) {
				if v, ok := info.Uses[id].(*types.Var); ok && v.Parent() == scope {
					t.Errorf("%s: package variable %s is changed or its address taken; put it into the value that needs it",
						f.at(id), id.Name)
				}
			}
		}
	}
}

// resolve finds what each name of a package stands for. Imports are left empty and the errors that follow from that
// are ignored: names of the package itself are resolved all the same.
func resolve(files []source) (*types.Info, *types.Scope) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	trees := make([]*ast.File, 0, len(files))
	for _, f := range files {
		trees = append(trees, f.tree)
	}
	pkg, _ := conf.Check(files[0].dir, files[0].set, trees, info)
	return info, pkg.Scope()
}

type noImports struct{}

func (noImports) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

func packageVars(tree *ast.File) []*ast.ValueSpec {
	var specs []*ast.ValueSpec
	for _, d := range tree.Decls {
		if gen, ok := d.(*ast.GenDecl); ok && gen.Tok == token.VAR {
			for _, s := range gen.Specs {
				specs = append(specs, s.(*ast.ValueSpec))
			}
		}
	}
	return specs
}

// holdsState tells which kind of thing that exists only to change is declared, or nothing.
func holdsState(spec *ast.ValueSpec, info *types.Info) string {
	what := ""
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ChanType:
			what = "a channel"
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if p, ok := info.Uses[x].(*types.PkgName); ok {
					switch p.Imported().Path() + "." + n.Sel.Name {
					case "sync.Mutex", "sync.RWMutex", "sync.Map", "sync.Once", "sync.WaitGroup", "sync.Cond":
						what = "a sync." + n.Sel.Name
					}
					if p.Imported().Path() == "sync/atomic" {
						what = "an atomic." + n.Sel.Name
					}
				}
			}
		}
		return true
	}
	if spec.Type != nil {
		ast.Inspect(spec.Type, look)
	}
	for _, v := range spec.Values {
		ast.Inspect(v, look)
	}
	return what
}

// written lists the names at the left of what functions assign to, count up or take the address of.
func written(tree *ast.File) []*ast.Ident {
	var ids []*ast.Ident
	add := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.Ident:
				ids = append(ids, x)
				return
			case *ast.IndexExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.ParenExpr:
				e = x.X
			default:
				return
			}
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, e := range n.Lhs {
					add(e)
				}
			}
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				add(n.X)
			}
		}
		return true
	})
	return ids
}

func TestTestsNeitherSleepNorSkip(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		if !f.test {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, _ := sel.X.(*ast.Ident)
			switch {
			case x == nil:
			case x.Name == "time" && sel.Sel.Name == "Sleep":
				t.Errorf("%s: a sleep is too short on a busy machine and too long on a calm one; wait for a condition with a limit",
					f.at(call))
			case sel.Sel.Name == "Skip" || sel.Sel.Name == "Skipf" || sel.Sel.Name == "SkipNow":
				t.Errorf("%s: a skipped test proves nothing; fail and say what to install", f.at(call))
			case x.Name == "testing" && sel.Sel.Name == "Short":
				t.Errorf("%s: every run is a whole run; make the test faster instead", f.at(call))
			}
			return true
		})
	}
}
