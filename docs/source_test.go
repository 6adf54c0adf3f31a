package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// source is what the loops' code says in constants and in functions that only return a value,
// by package and name, such as "rollout.ReasonCreateError".
type source struct {
	constants map[string]string
	returns   map[string]ast.Expr
	files     map[string]*ast.File // by path below pkg/controllers
}

func readSource(t *testing.T) *source {
	t.Helper()
	s := &source{constants: map[string]string{}, returns: map[string]ast.Expr{}, files: map[string]*ast.File{}}
	const top = root + "/pkg/controllers/"
	for _, folder := range []string{"deployment", "deployment/rollout", "replicaset", "replicaset/scale"} {
		paths, err := filepath.Glob(top + folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			s.files[strings.TrimPrefix(path, top)] = file
			s.add(file)
		}
	}
	s.resolve()
	return s
}

// add takes note of a file's constants and functions. A constant may be that of another
// package: then its name is kept until resolve.
func (s *source) add(file *ast.File) {
	pkg := file.Name.Name + "."
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if result, ok := onlyReturn(d); ok {
				s.returns[pkg+d.Name.Name] = result
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				value, ok := spec.(*ast.ValueSpec)
				if !ok || d.Tok != token.CONST {
					continue
				}
				for i, name := range value.Names {
					if i >= len(value.Values) {
						continue
					}
					if text, ok := literal(value.Values[i]); ok {
						s.constants[pkg+name.Name] = text
					} else if selector, ok := value.Values[i].(*ast.SelectorExpr); ok {
						s.constants[pkg+name.Name] = "=" + selectorName(selector)
					}
				}
			}
		}
	}
}

func (s *source) resolve() {
	for name, text := range s.constants {
		if other, ok := strings.CutPrefix(text, "="); ok {
			s.constants[name] = s.constants[other]
		}
	}
}

// onlyReturn is the value of a function that does nothing but return it.
func onlyReturn(function *ast.FuncDecl) (ast.Expr, bool) {
	if function.Body == nil || len(function.Body.List) != 1 {
		return nil, false
	}
	result, ok := function.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(result.Results) != 1 {
		return nil, false
	}
	return result.Results[0], true
}

func literal(expr ast.Expr) (string, bool) {
	basic, ok := expr.(*ast.BasicLit)
	if !ok || basic.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(basic.Value)
	return text, err == nil
}

// selectorName is "pkg.Name", or "" for what is none.
func selectorName(expr ast.Expr) string {
	if selector, ok := expr.(*ast.SelectorExpr); ok {
		if pkg, ok := selector.X.(*ast.Ident); ok {
			return pkg.Name + "." + selector.Sel.Name
		}
	}
	return ""
}

// nameIn is the full name of what an expression in a package names.
func nameIn(pkg string, expr ast.Expr) string {
	if ident, ok := expr.(*ast.Ident); ok {
		return pkg + "." + ident.Name
	}
	return selectorName(expr)
}

var verb = regexp.MustCompile(`%[a-z]`)

// pattern is a regular expression for the texts that an expression in a package can have. What
// is not known from the source alone is anything.
func (s *source) pattern(pkg string, expr ast.Expr) string {
	const anything = ".+"
	quoted := func(format string) string {
		return verb.ReplaceAllString(regexp.QuoteMeta(strings.ReplaceAll(format, "%q", `"%s"`)), anything)
	}
	if text, ok := literal(expr); ok {
		return quoted(text)
	}
	switch e := expr.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		if text, ok := s.constants[nameIn(pkg, e)]; ok {
			return regexp.QuoteMeta(text)
		}
	case *ast.BinaryExpr:
		return s.pattern(pkg, e.X) + s.pattern(pkg, e.Y)
	case *ast.CallExpr:
		name := nameIn(pkg, e.Fun)
		if name == "fmt.Sprintf" {
			return s.pattern(pkg, e.Args[0])
		}
		if result, ok := s.returns[name]; ok {
			home, _, _ := strings.Cut(name, ".")
			return s.pattern(home, result)
		}
	}
	return anything
}
