// Facts about a Java repository by javac, as lines of JSON: [fact, ...]. Files are the main sources of Maven's layout.

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.nio.file.*;
import java.util.*;
import java.util.regex.Pattern;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.lang.model.type.*;
import javax.lang.model.util.*;
import javax.tools.*;

public class Uses {
    static Path root;
    static Trees trees;
    static final Set<String> facts = new LinkedHashSet<>();
    static final Pattern TESTS = Pattern.compile("(^|/)(tests?|testing|specs?|testdata|fixtures?|mocks?|benchmarks?|bench)/|Tests?\\.java$|/src/[^/]*[tT]est[^/]*/");

    static void say(String... parts) {
        facts.add(Arrays.stream(parts).map(one -> '"' + one + '"').collect(Collectors.joining(",", "[", "]")));
    }

    /** The item that an element is, or null: a class of the repository, or a method or field of one. */
    static String name(Element element) {
        TreePath path = trees.getPath(element);
        if (path == null) return null;
        List<String> names = new ArrayList<>();
        for (Element one = element; one != null && one.getKind() != ElementKind.PACKAGE; one = one.getEnclosingElement()) {
            String simple = one.getSimpleName().toString();
            if (simple.isEmpty()) return null;
            if (simple.equals("<init>")) simple = one.getEnclosingElement().getSimpleName().toString();
            names.add(0, simple);
        }
        String file = root.relativize(Path.of(path.getCompilationUnit().getSourceFile().toUri())).toString();
        return file + ": " + String.join(".", names);
    }

    /** The item around a place: the outermost method with its classes, else the innermost named class. */
    static String around(TreePath path) {
        Element found = null;
        for (TreePath one = path; one != null; one = one.getParentPath()) {
            Tree leaf = one.getLeaf();
            if (!(leaf instanceof MethodTree) && !(leaf instanceof ClassTree)) continue;
            Element element = trees.getElement(one);
            if (element == null || name(element) == null) { found = leaf instanceof ClassTree ? null : found; continue; }
            if (found == null || leaf instanceof MethodTree) found = element;
        }
        String file = root.relativize(Path.of(path.getCompilationUnit().getSourceFile().toUri())).toString();
        return found == null ? file + ": <top level>" : name(found);
    }

    public static void main(String[] arguments) throws Exception {
        root = Path.of(arguments[0]).toRealPath();
        List<Path> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(one -> one.toString().endsWith(".java"))
                .filter(one -> !TESTS.matcher(root.relativize(one).toString()).find()).sorted().toList();
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(d -> {}, null, null);
        JavacTask task = (JavacTask) compiler.getTask(null, manager, d -> {},
            List.of("-proc:none", "-Xmaxerrs", "100000"), null, manager.getJavaFileObjectsFromPaths(files));
        List<CompilationUnitTree> units = new ArrayList<>();
        task.parse().forEach(units::add);
        task.analyze();
        trees = Trees.instance(task);
        Types types = task.getTypes();
        List<TypeElement> classes = new ArrayList<>();
        for (CompilationUnitTree unit : units) {
            new TreePathScanner<Void, Void>() {
                void use() {
                    Element element = trees.getElement(getCurrentPath());
                    if (element == null) return;
                    for (TreePath one = getCurrentPath(); one != null; one = one.getParentPath())
                        if (one.getLeaf() instanceof ImportTree || one.getLeaf() instanceof PackageTree) return;
                    // A constructor is its class, here as in the questions.
                    if (element.getKind() == ElementKind.CONSTRUCTOR) element = element.getEnclosingElement();
                    String meant = name(element);
                    if (meant != null) say("use", meant, around(getCurrentPath()));
                }

                @Override public Void visitClass(ClassTree tree, Void nothing) {
                    if (trees.getElement(getCurrentPath()) instanceof TypeElement one) {
                        classes.add(one);
                        if (name(one) != null) say("item", name(one), "class");
                    }
                    return super.visitClass(tree, nothing);
                }

                @Override public Void visitMethod(MethodTree tree, Void nothing) {
                    Element one = trees.getElement(getCurrentPath());
                    boolean written = trees.getSourcePositions().getEndPosition(unit, tree) >= 0;
                    if (one != null && name(one) != null && written)
                        say("item", name(one), one.getKind() == ElementKind.CONSTRUCTOR ? "constructor" : "method");
                    return super.visitMethod(tree, nothing);
                }

                @Override public Void visitIdentifier(IdentifierTree tree, Void nothing) {
                    // `super(...)` does not name the class.
                    boolean named = !tree.getName().contentEquals("super") && !tree.getName().contentEquals("this");
                    if (named && trees.getSourcePositions().getEndPosition(unit, tree) >= 0) use();
                    return super.visitIdentifier(tree, nothing);
                }

                @Override public Void visitMemberSelect(MemberSelectTree tree, Void nothing) {
                    use();
                    return super.visitMemberSelect(tree, nothing);
                }

                @Override public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
                    use();
                    return super.visitMemberReference(tree, nothing);
                }
            }.scan(unit, null);
        }
        for (TypeElement one : classes) {
            // A class without a name counts for what is around it, and so is no subtype that can be named.
            String below = name(one) == null ? "anonymous" : name(one);
            for (TypeMirror above : types.directSupertypes(one.asType())) {
                String type = above instanceof DeclaredType declared ? name(declared.asElement()) : null;
                if (type != null) say("base", type, below);
            }
        }
        System.out.println(String.join("\n", facts));
    }
}
