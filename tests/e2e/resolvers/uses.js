// Facts about a TypeScript or JavaScript repository by the TypeScript compiler, as lines of JSON: [fact, ...].
// Imports are resolved with the configuration that is nearest to the importing file; packages of the workspace by their sources.
const path = require('path')
const fs = require('fs')
const ts = require(path.join(process.argv[2], 'typescript'))
const root = fs.realpathSync(process.argv[3])
const isScript = process.argv[4] === 'javascript'
const TESTS = /(^|\/)(__)?(tests?|testing|specs?|testdata|fixtures?|mocks?|benchmarks?|benches|bench)(__)?\/|[._-](test|spec|test-d|bench)\.[cm]?[jt]sx?$|(^|\/)(runtime-tests|[^/]*-tests?)\//
const OWN = isScript ? /\.[cm]?jsx?$/ : /\.[cm]?tsx?$/

const files = [], packages = {}
const walk = (folder) => {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const name = path.join(folder, entry.name), below = path.relative(root, name)
    if (entry.isDirectory()) {
      if (entry.name !== 'node_modules' && entry.name !== '.git') walk(name)
    } else if (entry.isFile()) {
      if (OWN.test(name) && !TESTS.test(below)) files.push(name)
      if (entry.name === 'package.json') {
        try { packages[JSON.parse(fs.readFileSync(name, 'utf8')).name] = folder } catch {}
      }
    }
  }
}
walk(root)

const base = {
  allowJs: isScript, checkJs: isScript, noEmit: true, target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler, jsx: ts.JsxEmit.Preserve, skipLibCheck: true,
  allowImportingTsExtensions: true, strict: true, allowSyntheticDefaultImports: true, esModuleInterop: true,
}
const configurations = {}
const optionsOf = (folder) => {
  if (folder in configurations) return configurations[folder]
  const found = fs.readdirSync(folder).filter((name) => /^[tj]sconfig.*\.json$/.test(name))
  let made = folder === root ? base : undefined
  if (found.length) {
    made = { ...base, paths: {} }
    for (const name of found) {
      const read = ts.readConfigFile(path.join(folder, name), ts.sys.readFile)
      const { options } = ts.parseJsonConfigFileContent(read.config ?? {}, ts.sys, folder)
      for (const [key, to] of Object.entries(options.paths ?? {})) {
        made.paths[key] = to.map((one) => path.resolve(options.baseUrl ?? folder, one))
      }
      if (options.baseUrl) made.baseUrl = options.baseUrl
    }
  }
  return (configurations[folder] = made ?? optionsOf(path.dirname(folder)))
}
const host = ts.createCompilerHost(base)
const resolve = (name, from) => {
  const found = ts.resolveModuleName(name, from, optionsOf(path.dirname(from)), host).resolvedModule
  if (found) return found
  const own = Object.keys(packages).find((one) => name === one || name.startsWith(one + '/'))
  const inner = own && name.slice(own.length + 1)
  for (const one of own ? (inner ? [inner, `src/${inner}`] : ['src/index', 'index']) : []) {
    const local = ts.resolveModuleName('./' + one, path.join(packages[own], 'x.ts'), base, host).resolvedModule
    if (local) return local
  }
}
host.resolveModuleNames = (names, from) => names.map((name) => resolve(name, from))

const program = ts.createProgram(files, base, host)
const checker = program.getTypeChecker()
const own = new Set(files)
const out = new Set()
const say = (...fact) => out.add(JSON.stringify(fact))
const relative = (name) => path.relative(root, name)

const hasFunction = (one) =>
  one && (ts.isArrowFunction(one) || ts.isFunctionExpression(one) ||
    (ts.isCallExpression(one) && one.arguments.some((a) => hasFunction(a))))
const isClass = (one) => ts.isClassLike(one) || ts.isInterfaceDeclaration(one) || ts.isEnumDeclaration(one) || ts.isTypeAliasDeclaration(one)
const text = (name) => (ts.isPrivateIdentifier(name) || ts.isIdentifier(name) ? name.text : undefined)

// What a node names: its own name and kind, if it is an item.
const named = (node) => {
  const own = node.name && text(node.name)
  if (ts.isConstructorDeclaration(node)) return ['constructor', 'constructor']
  if (ts.isFunctionDeclaration(node) && own) return [own, 'function']
  if (isClass(node) && own) return [own, 'class']
  if (ts.isVariableDeclaration(node) && own && hasFunction(node.initializer)) return [own, 'function']
  if (ts.isVariableDeclaration(node) && own && node.initializer && ts.isClassExpression(node.initializer)) return [own, 'class']
  if (!ts.isClassLike(node.parent ?? node)) return
  if (ts.isMethodDeclaration(node) || ts.isAccessor(node)) return own && [own, 'method']
  if (ts.isPropertyDeclaration(node) && node.initializer && (ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer))) return own && [own, 'method']
}
// The item that a position belongs to: the outermost function or method with its classes, else the innermost class.
const item = (node) => {
  const chain = []
  for (let one = node; one; one = one.parent) {
    const found = named(one)
    if (found && !(ts.isClassExpression(one) && one.parent && ts.isVariableDeclaration(one.parent))) chain.unshift(found)
  }
  const first = chain.findIndex(([, kind]) => kind !== 'class')
  const kept = first < 0 ? chain : chain.slice(0, first + 1)
  const name = `${relative(node.getSourceFile().fileName)}: ${kept.length ? kept.map(([one]) => one).join('.') : '<top level>'}`
  if (kept.length) say('item', name, kept[kept.length - 1][1])
  return name
}
// What a declaration declares: an item, or a constant of a file's top level.
const declared = (node) => {
  if (named(node)) {
    const whole = item(node)
    return whole.endsWith(named(node)[0]) ? whole : undefined
  }
  const list = node.parent
  if (ts.isVariableDeclaration(node) && text(node.name) && list.parent?.parent && ts.isSourceFile(list.parent.parent)) {
    return `${relative(node.getSourceFile().fileName)}: ${text(node.name)}`
  }
  if (node.parent && ts.isClassLike(node.parent) && node.name && text(node.name)) {
    const owner = item(node.parent)
    return `${owner}.${text(node.name)}`
  }
}
const isImport = (node) => {
  for (let one = node; one; one = one.parent) {
    if (ts.isImportDeclaration(one) || ts.isExportDeclaration(one) || ts.isImportEqualsDeclaration(one)) return true
    if (ts.isExportAssignment(one)) return ts.isIdentifier(one.expression)
    if (isScript && ts.isVariableDeclaration(one) && one.initializer && /^require\s*\(/.test(one.initializer.getText())) return true
    if (isScript && ts.isBinaryExpression(one) && /^(module\.)?exports\b/.test(one.left.getText()) &&
      (ts.isIdentifier(one.right) || ts.isObjectLiteralExpression(one.right))) return true
    if (ts.isStatement(one)) break
  }
  return false
}
const alias = (symbol) => {
  while (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol)
  return symbol
}
const visit = (node) => {
  named(node) && item(node)
  if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
    let symbol = checker.getSymbolAtLocation(node)
    if (node.parent && ts.isShorthandPropertyAssignment(node.parent)) {
      symbol = checker.getShorthandAssignmentValueSymbol(node.parent) ?? symbol
    }
    for (const declaration of alias(symbol)?.declarations ?? []) {
      if (!own.has(declaration.getSourceFile().fileName)) continue
      const meant = declared(declaration)
      if (meant && ts.getNameOfDeclaration(declaration) !== node && !isImport(node)) say('use', meant, item(node))
    }
  }
  if (ts.isClassLike(node) || ts.isInterfaceDeclaration(node)) {
    for (const clause of node.heritageClauses ?? []) {
      for (const one of clause.types) {
        const type = checker.getTypeAtLocation(one)
        const above = [type.symbol, type.aliasSymbol, alias(checker.getSymbolAtLocation(one.expression))]
        for (const declaration of above.flatMap((symbol) => symbol?.declarations ?? [])) {
          if (own.has(declaration.getSourceFile().fileName) && named(declaration)) say('base', item(declaration), item(node))
        }
      }
    }
  }
  ts.forEachChild(node, visit)
}
for (const file of program.getSourceFiles()) {
  if (!own.has(file.fileName)) continue
  visit(file)
  for (const one of ts.preProcessFile(file.text, true, true).importedFiles) {
    const found = resolve(one.fileName, file.fileName)
    if (found && own.has(found.resolvedFileName)) say('import', relative(found.resolvedFileName), relative(file.fileName))
  }
}
fs.writeFileSync(1, [...out].join('\n') + '\n')
