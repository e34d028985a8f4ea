package main

import "go/ast"

// receiver returns the name of a receiver's type.
func receiver(one ast.Expr) string {
	switch one := one.(type) {
	case *ast.StarExpr:
		return receiver(one.X)
	case *ast.IndexExpr:
		return receiver(one.X)
	case *ast.IndexListExpr:
		return receiver(one.X)
	case *ast.ParenExpr:
		return receiver(one.X)
	case *ast.Ident:
		return one.Name
	}
	return "?"
}
