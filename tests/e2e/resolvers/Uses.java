// What does every name mean? Prints `file:offset<TAB>file:offset`, use and definition, by javac. Offsets count UTF-16 units.

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.Element;
import javax.tools.*;

public class Uses {
    public static void main(String[] arguments) throws Exception {
        Path root = Path.of(arguments[0]).toRealPath();
        List<Path> files = new ArrayList<>();
        try (Scanner input = new Scanner(System.in)) {
            while (input.hasNextLine()) files.add(root.resolve(input.nextLine()));
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(d -> {}, null, null);
        JavacTask task = (JavacTask) compiler.getTask(null, manager, d -> {},
            List.of("-proc:none", "-Xmaxerrs", "100000"), null, manager.getJavaFileObjectsFromPaths(files));
        Iterable<? extends CompilationUnitTree> units = task.parse();
        task.analyze();
        Trees trees = Trees.instance(task);
        StringBuilder out = new StringBuilder();
        for (CompilationUnitTree unit : units) {
            String text = unit.getSourceFile().getCharContent(true).toString();
            String here = root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
            new TreePathScanner<Void, Void>() {
                void use(long start, String name) {
                    Element element = trees.getElement(getCurrentPath());
                    if (element == null || start < 0) return;
                    // A constructor is its class, here as in the questions.
                    if (element.getKind().name().equals("CONSTRUCTOR")) element = element.getEnclosingElement();
                    TreePath path = trees.getPath(element);
                    if (path == null) return;
                    CompilationUnitTree where = path.getCompilationUnit();
                    try {
                        String other = where.getSourceFile().getCharContent(true).toString();
                        long begin = trees.getSourcePositions().getStartPosition(where, path.getLeaf());
                        String file = root.relativize(Path.of(where.getSourceFile().toUri())).toString();
                        int at = nameStart(other, (int) begin, element.getSimpleName().toString(), path.getLeaf());
                        out.append(here).append(':').append(start).append('\t').append(file).append(':').append(at).append('\n');
                    } catch (Exception error) {
                        throw new RuntimeException(error);
                    }
                }

                int nameStart(String other, int begin, String name, Tree tree) {
                    // Behind modifiers and annotations: the name before a bracket, or after the keyword of a type.
                    String pattern = tree instanceof MethodTree ? "\\b" + name + "\\s*\\("
                        : tree instanceof ClassTree ? "(?:class|interface|enum|record)\\s+" + name + "\\b"
                        : "\\b" + name + "\\b";
                    var found = java.util.regex.Pattern.compile(pattern).matcher(other);
                    if (!found.find(begin)) return -1;
                    return other.indexOf(name, tree instanceof ClassTree ? found.start() + 5 : found.start());
                }

                @Override public Void visitIdentifier(IdentifierTree tree, Void nothing) {
                    use(trees.getSourcePositions().getStartPosition(unit, tree), tree.getName().toString());
                    return super.visitIdentifier(tree, nothing);
                }

                @Override public Void visitMemberSelect(MemberSelectTree tree, Void nothing) {
                    String name = tree.getIdentifier().toString();
                    long end = trees.getSourcePositions().getEndPosition(unit, tree);
                    use(end - name.length(), name);
                    return super.visitMemberSelect(tree, nothing);
                }

                @Override public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
                    String name = tree.getName().toString();
                    long end = trees.getSourcePositions().getEndPosition(unit, tree);
                    use(end - name.length(), name);
                    return super.visitMemberReference(tree, nothing);
                }
            }.scan(unit, null);
        }
        System.out.print(out);
    }
}
