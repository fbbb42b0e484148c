package server_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
)

// layers lists the packages of the module from the bottom up. A package may import only those of lower
// layers, and none of its own layer.
var layers = [][]string{
	{"internal/cache", "internal/keyed", "internal/durable", "internal/graphql/exec",
		"internal/graphql/schema"},
	{"docs", "internal/errs", "internal/markdown", "internal/journal", "internal/graphql/document"},
	{"internal/admission", "internal/git/object", "internal/space"},
	{"internal/git/wire", "internal/git/packfile", "internal/git/process", "internal/git/tree"},
	{"internal/git/catfile"},
	{"internal/certificate", "internal/web", "internal/db", "internal/git", "internal/apidoc"},
	{"internal/git/diff", "internal/git/history", "internal/backup/tables", "internal/identity", "internal/scope", "internal/key", "internal/audit",
		"internal/hook/outgoing", "internal/fulltext"},
	{"internal/route"},
	{"internal/account", "internal/gitignore", "internal/license"},
	{"internal/repo", "internal/plant", "internal/ratelimit", "internal/follow",
		"internal/avatar"},
	{"internal/repo/list", "internal/repo/collaborator", "internal/repo/transport", "internal/repo/purge",
		"internal/repo/network"},
	{"internal/repo/settings", "internal/app"},
	{"internal/hook"},
	{"internal/reaction", "internal/star", "internal/tracker", "internal/file", "internal/repo/maintenance"},
	{"internal/posting"},
	{"internal/finder"},
	{"internal/label"},
	{"internal/milestone"},
	{"internal/issue/text"},
	{"internal/issue"},
	{"internal/issue/branch", "internal/issue/comment", "internal/issue/deletion",
		"internal/issue/subscription", "internal/markup"},
	{"internal/issue/timeline", "internal/notification"},
	{"internal/detect"},
	{"internal/gitdata", "internal/search", "internal/closing"},
	{"internal/status", "internal/checkrun", "internal/search/repository", "internal/search/user",
		"internal/search/commit", "internal/search/code"},
	{"internal/pull"},
	{"internal/review", "internal/release", "internal/attachment", "internal/commitcomment"},
	{"internal/activity", "internal/hook/payloads"},
	{"internal/forge"},
	{"internal/page"},
	{
		"internal/doctor",
		"internal/page/diff",
		"internal/page/listing",
		"internal/page/talk",
		"internal/page/webhook",
	},
	{
		"internal/page/attach",
		"internal/page/pull",
		"internal/page/checks",
		"internal/page/code",
		"internal/page/explore",
		"internal/page/help",
		"internal/page/signin",
		"internal/page/inbox",
		"internal/page/people",
		"internal/page/project",
		"internal/page/releases",
		"internal/page/reposettings",
		"internal/page/settings",
		"internal/page/shelf",
		"internal/page/site",
		"internal/page/issue",
	},
	{"internal/graphql", "internal/check", "internal/backup", "internal/ssh"},
	{"internal/server"},
	{"internal/seed"},
	{"internal/ephemeral"},
	{"cmd/arbor", "arbortest"},
}

// A package must not depend on packages of the same or a higher layer, so that it can be read without them.
func TestImportsPointDownwards(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`,
		"arbor/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	layer := map[string]int{}
	for i, l := range layers {
		for _, p := range l {
			layer["arbor/"+p] = i
		}
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name, imports := fields[0], fields[1:]
		if isHelper(name) {
			continue
		}
		at, known := layer[name]
		if !known {
			t.Errorf("%s has no place in the layers: add it", name)
			continue
		}
		for _, i := range imports {
			if !strings.HasPrefix(i, "arbor/") {
				continue
			}
			if below, ok := layer[i]; !ok || below >= at {
				t.Errorf("%s must not import %s", name, i)
			}
		}
	}
}

// isHelper reports whether a package is for tests alone: it may import everything, and nothing of the program
// may import it.
func isHelper(name string) bool {
	return strings.HasPrefix(name, "arbor/internal/test/")
}

var routeComment = regexp.MustCompile(`^(GET|POST|PATCH|PUT|DELETE) (/\S*)$`)

// The comment of each handler begins with its address, METHOD PATH, and no other comment does.
func TestHandlerCommentsMatchTheTable(t *testing.T) {
	documented := handlers(t)
	for _, r := range apitest.Start(t, db.SQLite).Server.Routes() {
		address := r.Method + " " + r.Pattern
		if names := documented[address]; len(names) != 1 {
			t.Errorf("the comments of %q say that they serve %s, want one", names, address)
		}
		delete(documented, address)
	}
	for address, names := range documented {
		t.Errorf("the comment of %q says that it serves %s, which is not in the table", names, address)
	}
}

// handlers returns the methods whose comments say that they serve an address, by METHOD PATH, each as
// PACKAGE.(*TYPE).METHOD with the package's folder below internal.
func handlers(t *testing.T) map[string][]string {
	t.Helper()
	documented := map[string][]string{}
	root := filepath.Join("..", "..", "internal")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Doc != nil {
				noteRoutes(documented, filepath.ToSlash(dir), f)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return documented
}

// noteRoutes takes the lines METHOD PATH with which a comment begins.
func noteRoutes(documented map[string][]string, pkg string, f *ast.FuncDecl) {
	if f.Recv == nil {
		return
	}
	star, ok := f.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return
	}
	receiver, ok := star.X.(*ast.Ident)
	if !ok {
		return
	}
	name := pkg + ".(*" + receiver.Name + ")." + f.Name.Name
	for line := range strings.Lines(f.Doc.Text()) {
		m := routeComment.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			return
		}
		documented[m[1]+" "+m[2]] = append(documented[m[1]+" "+m[2]], name)
	}
}

// A login that is also the first part of an address of ours would hide that
// address, or be hidden by it (decisions 8, 58).
func TestNoLoginShadowsARoute(t *testing.T) {
	reserved := account.ReservedLogins()
	for _, r := range apitest.Start(t, db.SQLite).Server.Routes() {
		first, _, _ := strings.Cut(strings.TrimPrefix(r.Pattern, "/"), "/")
		if first == "" || strings.HasPrefix(first, "{") {
			continue
		}
		if !slices.Contains(reserved, first) {
			t.Errorf("the login %q can be registered and would shadow %s", first, r.Pattern)
		}
	}
	for _, page := range []string{"api", "login", "logout", "signup", "settings", "admin", "docs",
		"openapi", "explore", "search", "notifications", "new", "issues", "pulls", "stars", "assets",
		"static", "metrics", "gists", "about"} {
		if !slices.Contains(reserved, page) {
			t.Errorf("the login %q can be registered and would shadow a page to come", page)
		}
	}
}

// Each operation's documentation_url must lead to it, so no two may share an
// anchor (decision 15).
func TestEachOperationHasItsOwnAnchor(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	seen := map[string]string{}
	for _, r := range s.Server.Routes() {
		id := server.Operation(&r)
		if other, again := seen[id]; again {
			t.Errorf("%s %s and %s share the anchor %s", r.Method, r.Pattern, other, id)
		}
		seen[id] = r.Method + " " + r.Pattern
	}
}

var readsQuery = regexp.MustCompile(`URL\.Query\(\)|FormValue\(|ParseForm\(`)

// Tests know what a handler asks the query for only when it asks by way of
// package web (its QueryOf): else a parameter could stay undescribed.
func TestQueriesAreReadByWeb(t *testing.T) {
	// web itself; for people; for git; for tests
	allowed := []string{"internal/web", "internal/page", "internal/repo/transport", "internal/test"}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(filepath.Join(root, "internal"),
		func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") ||
				strings.HasSuffix(path, "_test.go") {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil || slices.ContainsFunc(allowed, func(a string) bool {
				return strings.HasPrefix(filepath.ToSlash(name), a)
			}) {
				return err
			}
			source, err := os.ReadFile(path)
			if found := readsQuery.Find(source); found != nil {
				t.Errorf("%s: %s: read the query by web.QueryOf", name, found)
			}
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
}

var logsAlone = regexp.MustCompile(`\blog\.(Debug|Info|Warn|Error)\(`)

// A line that is logged without its context lacks the id of the request or job that caused it.
func TestLinesAreLoggedWithTheirContext(t *testing.T) {
	allowed := map[string]string{
		"internal/certificate":  "works for no request",
		"internal/space":        "a disk is all requests'",
		"internal/ephemeral":    "works for no request",
		"internal/db/sqlitelog": "what a commit does is for all of its writers",
		"internal/repo/folder":  "a folder goes when its last reader leaves",
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(filepath.Join(root, "internal"),
		func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") ||
				strings.HasSuffix(path, "_test.go") {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			for prefix := range allowed {
				if strings.HasPrefix(filepath.ToSlash(name), prefix) {
					return nil
				}
			}
			source, err := os.ReadFile(path)
			if found := logsAlone.Find(source); found != nil {
				t.Errorf("%s: %s): say %sContext(ctx, ...), so that the line has its request's id", name,
					found, found[:len(found)-1])
			}
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
}

var sharedStep = regexp.MustCompile(
	`\b(repo\.(Insert|DeleteRow|CountForOwner|PutCollaborator|DropCollaborator)|` +
		`settings\.(SetVisibility|SetOwner|FollowOwner)|network\.Leave|\w+\.(WriteRefs|NoteUnreached|UpdateRepo)|activity\.Note\w+|closing\.NotePush|label\.AddDefaults|\w+\.FollowTransfer|star\.FollowVisibility)\(`)

// The steps of a push, a deletion and the like are exported for package forge. A
// feature that took one alone would leave the others out.
func TestSharedStepsAreTakenByForge(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		found := sharedStep.Find(source)
		dir := filepath.Base(filepath.Dir(path))
		// The steps of package settings consist of smaller ones.
		inner := dir == "settings" && strings.HasPrefix(string(found), "repo.CountForOwner")
		if found != nil && dir != "forge" && !inner {
			t.Errorf("%s: %s...) is a step of package forge", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// decisions may be cited only when the project itself says what they are.
func TestCitedDecisionsAreDocumented(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "decisions.md"))
	if err != nil {
		t.Fatal(err)
	}
	cite := regexp.MustCompile(`decisions? (\d+)(?:(?:, | and |-)(\d+))*`)
	number := regexp.MustCompile(`\d+`)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, c := range cite.FindAllString(string(source), -1) {
			for _, n := range number.FindAllString(c, -1) {
				if !strings.Contains(string(text), "\n"+n+". ") {
					t.Errorf("%s cites decision %s, which docs/decisions.md does not have", path, n)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
