// Facts about a Go repository by go/types, as lines of JSON: [fact, ...]. Files are chosen by go/build for several systems and
// for every build tag; packages from outside the repository are empty, and what hangs on them is not told.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

var (
	root    string
	modules = map[string]string{} // folder -> module path
	facts   = map[string]bool{}
	tests   = regexp.MustCompile(`(^|/)(tests?|testdata|testing|fixtures?|mocks?|benchmarks?|bench)/|_test\.go$`)
)

func say(fact ...string) {
	line, _ := json.Marshal(fact)
	facts[string(line)] = true
}

// A world is the code as one system and one set of tags see it.
type world struct {
	context build.Context
	set     *token.FileSet
	known   map[string]*types.Package
	library types.Importer
	names   map[types.Object]string
	spans   map[string][]span
}

type span struct {
	start, end int
	name, kind string
}

func (w *world) folder(path string) (string, bool) {
	best, found := "", false
	for folder, module := range modules {
		if (path == module || strings.HasPrefix(path, module+"/")) && (!found || len(module) > len(modules[best])) {
			best, found = folder, true
		}
	}
	if !found {
		return "", false
	}
	return filepath.Join(root, best, strings.TrimPrefix(strings.TrimPrefix(path, modules[best]), "/")), true
}

func (w *world) Import(path string) (*types.Package, error) {
	if found, ok := w.known[path]; ok {
		return found, nil
	}
	if folder, ok := w.folder(path); ok {
		if made := w.check(path, folder); made != nil {
			return made, nil
		}
	}
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		if found, err := w.library.Import(path); err == nil {
			w.known[path] = found
			return found, nil
		}
	}
	empty := types.NewPackage(path, filepath.Base(path))
	empty.MarkComplete()
	w.known[path] = empty
	return empty, nil
}

func relative(path string) string {
	found, _ := filepath.Rel(root, path)
	return filepath.ToSlash(found)
}

// Read the items of a file: what a position belongs to.
func (w *world) read(file *ast.File, path string) {
	if _, ok := w.spans[path]; ok {
		return
	}
	found := []span{}
	add := func(node ast.Node, name, kind string) {
		found = append(found, span{w.set.Position(node.Pos()).Offset, w.set.Position(node.End()).Offset, path + ": " + name, kind})
		say("item", path+": "+name, kind)
	}
	for _, one := range file.Decls {
		switch one := one.(type) {
		case *ast.FuncDecl:
			if one.Recv != nil && len(one.Recv.List) == 1 {
				add(one, receiver(one.Recv.List[0].Type)+"."+one.Name.Name, "method")
			} else {
				add(one, one.Name.Name, "function")
			}
		case *ast.GenDecl:
			for _, spec := range one.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					add(spec, spec.Name.Name, "class")
				}
			}
		}
	}
	w.spans[path] = found
}

func (w *world) item(path string, offset int) string {
	for _, one := range w.spans[path] {
		if one.start <= offset && offset < one.end {
			return one.name
		}
	}
	return path + ": <top level>"
}

func (w *world) check(path, folder string) *types.Package {
	entries, _ := os.ReadDir(folder)
	byName := map[string][]*ast.File{}
	names := []string{}
	for _, entry := range entries {
		name := entry.Name()
		where := filepath.Join(folder, name)
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || tests.MatchString(relative(where)) {
			continue
		}
		if fits, err := w.context.MatchFile(folder, name); err != nil || !fits {
			continue
		}
		file, err := parser.ParseFile(w.set, where, nil, parser.SkipObjectResolution)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		w.read(file, relative(where))
		if _, ok := byName[file.Name.Name]; !ok {
			names = append(names, file.Name.Name)
		}
		byName[file.Name.Name] = append(byName[file.Name.Name], file)
	}
	var made *types.Package
	w.known[path] = types.NewPackage(path, filepath.Base(path))
	for _, name := range names {
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: w, Error: func(error) {}, FakeImportC: true}
		made, _ = config.Check(path, w.set, byName[name], info)
		w.known[path] = made
		for ident, object := range info.Uses {
			if meant := w.meant(object); meant != "" {
				use := w.set.Position(ident.Pos())
				say("use", meant, w.item(relative(use.Filename), use.Offset))
			}
		}
	}
	return made
}

// The item that an object is: declared in a package's scope, or a method. A method of an instantiated type is the written one.
func (w *world) meant(object types.Object) string {
	if function, ok := object.(*types.Func); ok {
		object = function.Origin()
	}
	at := w.set.Position(object.Pos())
	if !at.IsValid() || !strings.HasPrefix(at.Filename, root+"/") || object.Pkg() == nil {
		return ""
	}
	path := relative(at.Filename)
	if function, ok := object.(*types.Func); ok {
		if function.Type().(*types.Signature).Recv() != nil {
			if one := w.item(path, at.Offset); strings.HasSuffix(one, "."+object.Name()) {
				return one
			}
			return ""
		}
		return path + ": " + object.Name()
	}
	switch object.(type) {
	case *types.TypeName, *types.Const, *types.Var:
		if object.Parent() == object.Pkg().Scope() {
			return path + ": " + object.Name()
		}
	}
	return ""
}

func main() {
	root, _ = filepath.Abs(os.Args[1])
	root, _ = filepath.EvalSymlinks(root)
	folders, tags := []string{}, map[string]bool{}
	tag := regexp.MustCompile(`(?m)^//go:build (.*)$`)
	word := regexp.MustCompile(`\w+`)
	filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return nil
		}
		name := info.Name()
		if info.IsDir() {
			if name == ".git" || name == "node_modules" || name == "vendor" {
				return filepath.SkipDir
			}
			folders = append(folders, path)
		} else if name == "go.mod" {
			text, _ := os.ReadFile(path)
			if found := regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`).FindSubmatch(text); found != nil {
				modules[strings.TrimPrefix(relative(filepath.Dir(path)), ".")] = string(found[1])
			}
		} else if strings.HasSuffix(name, ".go") && !tests.MatchString(relative(path)) {
			text, _ := os.ReadFile(path)
			for _, line := range tag.FindAllStringSubmatch(string(text), -1) {
				for _, one := range word.FindAllString(line[1], -1) {
					tags[one] = true
				}
			}
		}
		return nil
	})
	systems := []string{"linux", "darwin", "windows"}
	extra := []string{}
	for one := range tags {
		if !regexp.MustCompile(`^(linux|darwin|windows|\w*bsd|plan9|solaris|aix|js|wasm|illumos|dragonfly|android|ios|unix|cgo|gc|race|ignore|go1|\d+|a\w+64|386|arm|gccgo|appengine)$`).MatchString(one) {
			extra = append(extra, one)
		}
	}
	sort.Strings(extra)
	for number := 0; number < len(systems)+len(extra); number++ {
		context := build.Default
		context.CgoEnabled = false
		if number < len(systems) {
			context.GOOS = systems[number]
		} else {
			context.BuildTags = []string{extra[number-len(systems)]}
		}
		build.Default = context // the importer of the library looks there
		set := token.NewFileSet()
		w := &world{context, set, map[string]*types.Package{}, importer.ForCompiler(set, "source", nil), map[types.Object]string{}, map[string][]span{}}
		for _, folder := range folders {
			best, found := "", false
			for one := range modules {
				if (one == "" || relative(folder) == one || strings.HasPrefix(relative(folder), one+"/")) && (!found || len(one) > len(best)) {
					best, found = one, true
				}
			}
			if !found {
				continue
			}
			path := modules[best]
			if below := strings.TrimPrefix(strings.TrimPrefix(relative(folder), best), "/"); below != "" && below != "." {
				path += "/" + below
			}
			if _, ok := w.known[path]; !ok {
				w.check(path, folder)
			}
		}
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for fact := range facts {
		fmt.Fprintln(out, fact)
	}
}
