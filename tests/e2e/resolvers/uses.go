// What does every identifier mean? Prints `file:offset file:offset`, use and definition, by go/types. Packages from outside
// the repository are empty: what hangs on them is not told.
package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

var (
	set     = token.NewFileSet()
	root    string
	module  string
	known   = map[string]*types.Package{}
	library = importer.ForCompiler(set, "source", nil)
)

type local struct{}

func (local) Import(path string) (*types.Package, error) {
	if found, ok := known[path]; ok {
		return found, nil
	}
	if path == module || strings.HasPrefix(path, module+"/") {
		return check(path), nil
	}
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		if found, err := library.Import(path); err == nil {
			known[path] = found
			return found, nil
		}
	}
	empty := types.NewPackage(path, filepath.Base(path))
	empty.MarkComplete()
	known[path] = empty
	return empty, nil
}

func check(path string) *types.Package {
	folder := filepath.Join(root, strings.TrimPrefix(path, module))
	entries, _ := os.ReadDir(folder)
	byName := map[string][]*ast.File{}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || strings.Contains(string(text[:min(len(text), 600)]), "//go:build") {
			continue
		}
		file, err := parser.ParseFile(set, filepath.Join(folder, name), text, 0)
		if file != nil && err == nil {
			byName[file.Name.Name] = append(byName[file.Name.Name], file)
		}
	}
	var made *types.Package
	for _, files := range byName {
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: local{}, Error: func(error) {}, FakeImportC: true}
		made, _ = config.Check(path, set, files, info)
		known[path] = made
		for ident, object := range info.Uses {
			at := set.Position(origin(object).Pos())
			if at.IsValid() && strings.HasPrefix(at.Filename, root) {
				use := set.Position(ident.Pos())
				fmt.Printf("%s:%d\t%s:%d\n", relative(use.Filename), use.Offset, relative(at.Filename), at.Offset)
			}
		}
	}
	if made == nil {
		made = types.NewPackage(path, filepath.Base(path))
		known[path] = made
	}
	return made
}

// A method of an instantiated type is the one that was written.
func origin(object types.Object) types.Object {
	if function, ok := object.(*types.Func); ok {
		return function.Origin()
	}
	return object
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func relative(path string) string {
	found, _ := filepath.Rel(root, path)
	return found
}

func main() {
	root, _ = filepath.Abs(os.Args[1])
	text, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "module ") {
			module = strings.TrimSpace(strings.TrimPrefix(line, "module "))
		}
	}
	filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.IsDir() && !strings.Contains(path, "/.git") {
			below, _ := filepath.Rel(root, path)
			name := module
			if below != "." {
				name += "/" + below
			}
			if _, ok := known[name]; !ok {
				check(name)
			}
		}
		return nil
	})
}
