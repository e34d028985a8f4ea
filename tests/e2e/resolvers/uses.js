// What does every identifier mean? Prints `file:offset<TAB>file:offset`, use and definition, by the TypeScript compiler; with
// --imports, `file<TAB>file`: who imports whom. Offsets count UTF-16 units.
const path = require('path')
const fs = require('fs')
const ts = require(path.join(process.argv[2], 'typescript'))
const root = fs.realpathSync(process.argv[3])
const files = fs.readFileSync(0, 'utf8').split('\n').filter(Boolean).map((name) => path.join(root, name))
const program = ts.createProgram(files, {
  allowJs: true, checkJs: true, noEmit: true, target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler ?? ts.ModuleResolutionKind.NodeJs, jsx: ts.JsxEmit.Preserve,
  skipLibCheck: true, allowImportingTsExtensions: true, strict: true,
})
const checker = program.getTypeChecker()
const own = new Set(files)
const out = []
const relative = (name) => path.relative(root, name)
if (process.argv[4] === '--imports') {
  const host = ts.createCompilerHost(program.getCompilerOptions())
  for (const name of files) {
    const info = ts.preProcessFile(fs.readFileSync(name, 'utf8'), true, true)
    for (const one of info.importedFiles) {
      const found = ts.resolveModuleName(one.fileName, name, program.getCompilerOptions(), host).resolvedModule
      if (found && own.has(found.resolvedFileName)) out.push(`${relative(name)}\t${relative(found.resolvedFileName)}`)
    }
  }
} else {
  const visit = (file, node) => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      let symbol = checker.getSymbolAtLocation(node)
      if (node.parent && ts.isShorthandPropertyAssignment(node.parent)) {
        symbol = checker.getShorthandAssignmentValueSymbol(node.parent) ?? symbol
      }
      if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol)
      for (const declaration of symbol?.declarations ?? []) {
        const where = declaration.getSourceFile()
        const name = ts.getNameOfDeclaration(declaration)
        if (own.has(where.fileName) && name) {
          out.push(`${relative(file.fileName)}:${node.getStart(file)}\t${relative(where.fileName)}:${name.getStart(where)}`)
        }
      }
    }
    ts.forEachChild(node, (child) => visit(file, child))
  }
  for (const file of program.getSourceFiles()) if (own.has(file.fileName)) visit(file, file)
}
fs.writeSync(1, '')
process.stdout.write(out.join('\n') + '\n')
