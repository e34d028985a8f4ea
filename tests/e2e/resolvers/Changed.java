// The methods of Java files by javac's parser, as lines of JSON: [file, name, code]. The files come line by line.

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.regex.Pattern;
import javax.tools.*;

public class Changed {
    /** Strings, which stay as they are; comments and blanks, which go. */
    static final Pattern PARTS = Pattern.compile(
        "(\"\"\"[\\s\\S]*?\"\"\"|\"(?:\\\\.|[^\"\\\\])*+\"|'(?:\\\\.|[^'\\\\])*+')|//.*|/\\*[\\s\\S]*?\\*/|\\s+");

    static String quoted(String text) {
        StringBuilder made = new StringBuilder("\"");
        for (char one : text.toCharArray()) {
            made.append(one < 32 || one == '"' || one == '\\' ? String.format("\\u%04x", (int) one) : String.valueOf(one));
        }
        return made.append('"').toString();
    }

    public static void main(String[] arguments) throws IOException {
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
        BufferedReader files = new BufferedReader(new InputStreamReader(System.in));
        for (String file; (file = files.readLine()) != null;) {
            String name = file, text = Files.readString(Path.of(file));
            DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
            StandardJavaFileManager manager = javac.getStandardFileManager(said, null, null);
            JavacTask task = (JavacTask) javac.getTask(null, manager, said, null, null, manager.getJavaFileObjects(file));
            SourcePositions places = Trees.instance(task).getSourcePositions();
            for (CompilationUnitTree unit : task.parse()) {
                new TreeScanner<Void, String>() {
                    @Override public Void visitClass(ClassTree type, String above) {
                        // A class without a name is part of what it stands in.
                        return type.getSimpleName().length() == 0 ? null : super.visitClass(type, above + type.getSimpleName() + ".");
                    }
                    @Override public Void visitMethod(MethodTree method, String above) {
                        String[] types = above.split("\\.");
                        String own = method.getReturnType() == null ? types[types.length - 1] : method.getName().toString();
                        int start = (int) places.getStartPosition(unit, method), end = (int) places.getEndPosition(unit, method);
                        String code = PARTS.matcher(text.substring(start, end)).replaceAll("$1");
                        out.println("[" + quoted(name) + "," + quoted(above + own) + "," + quoted(code) + "]");
                        return null;
                    }
                }.scan(unit, "");
            }
            if (said.getDiagnostics().stream().anyMatch(one -> one.getKind() == Diagnostic.Kind.ERROR)) {
                throw new IllegalStateException(said.getDiagnostics().toString());
            }
        }
        out.flush();
    }
}
