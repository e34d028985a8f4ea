// The functions of TypeScript or JavaScript files by the TypeScript compiler's parser, as lines of JSON: [file, name, code].
// The files come line by line. A variable, a property or a member whose value is a function written there is a function.
const fs = require('fs')
const path = require('path')
const ts = require(path.join(process.argv[2], 'typescript'))

const isFunction = (node) => node !== undefined && (ts.isArrowFunction(node) || ts.isFunctionExpression(node))
// memo(() => 1), outer(inner(() => 1))
const takesFunction = (node, depth = 0) =>
  node !== undefined && ts.isCallExpression(node) && depth < 2 &&
  node.arguments.some((one) => isFunction(one) || takesFunction(one, depth + 1))

for (const name of fs.readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const file = ts.createSourceFile(name, fs.readFileSync(name, 'utf8'), ts.ScriptTarget.Latest, true)
  if (file.parseDiagnostics.length) throw Error(`${name}: ${file.parseDiagnostics[0].messageText}`)

  // Code without comments and blanks.
  const tokens = (node) => {
    if (ts.isJSDoc(node)) return []
    const parts = node.getChildren(file)
    if (parts.length) return parts.flatMap(tokens)
    return [ts.isJsxText(node) ? node.text.trim().replace(/\s+/g, ' ') : node.getText(file)].filter(Boolean)
  }
  const say = (called, ...nodes) => console.log(JSON.stringify([name, called, nodes.flatMap(tokens).join(' ')]))

  const visit = (node, owner = '') => {
    if (ts.isFunctionDeclaration(node)) {
      if (node.name) say(owner + node.name.text, node)
    } else if (ts.isClassLike(node)) {
      const called = (node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined))?.getText(file)
      for (const one of node.members) {
        const named = one.name && !ts.isComputedPropertyName(one.name)
        if (ts.isConstructorDeclaration(one)) say(`${called}.constructor`, one)
        else if (named && (ts.isMethodDeclaration(one) || ts.isAccessor(one) || isFunction(one.initializer))) {
          say(`${called}.${one.name.getText(file)}`, one)
        }
      }
    } else if (ts.isVariableDeclaration(node) && (isFunction(node.initializer) || takesFunction(node.initializer))) {
      const statement = node.parent.parent
      say(node.name.getText(file), ...(statement.modifiers ?? []), node.parent.getFirstToken(file), node)
    } else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken && isFunction(node.right)) {
      const parts = node.left.getText(file).split('.').filter((one) => one !== 'prototype').slice(-2)
      const isOwn = ts.isExpressionStatement(node.parent) && node.parent.parent === file && parts.length > 1
      if (isOwn) say(parts.filter((one, at) => at || !/^(module|exports)$/.test(one)).join('.'), node)
    } else if (!ts.isFunctionLike(node)) ts.forEachChild(node, (one) => visit(one))
  }
  visit(file)
}
