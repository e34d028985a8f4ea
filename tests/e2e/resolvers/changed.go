// The functions of Go files by Go's own parser, as lines of JSON: [file, name, code]. The files come line by line.
package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"strings"
)

// tokens returns code without comments and blanks.
func tokens(code []byte) string {
	var found []string
	var scan scanner.Scanner
	scan.Init(token.NewFileSet().AddFile("", -1, len(code)), code, nil, 0)
	for {
		_, kind, text := scan.Scan()
		if kind == token.EOF {
			return strings.Join(found, " ")
		}
		if kind == token.SEMICOLON || text == "" {
			text = kind.String() // A line's end and a semicolon are the same.
		}
		found = append(found, text)
	}
}

func main() {
	lines, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for lines.Scan() {
		code, err := os.ReadFile(lines.Text())
		if err != nil {
			panic(err)
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "", code, 0)
		if err != nil {
			panic(lines.Text() + ": " + err.Error())
		}
		for _, one := range file.Decls {
			if function, ok := one.(*ast.FuncDecl); ok {
				name := function.Name.Name
				if function.Recv != nil {
					name = receiver(function.Recv.List[0].Type) + "." + name
				}
				start, end := files.Position(one.Pos()).Offset, files.Position(one.End()).Offset
				out.Encode([]string{lines.Text(), name, tokens(code[start:end])})
			}
		}
	}
}
