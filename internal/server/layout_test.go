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
	"arbor/internal/test/testkit"
)

// tiers lists the packages of the module from the bottom up, with all below their folders. A package may import
// those of its own tier and of lower ones.
var tiers = []struct {
	name     string
	packages []string
}{
	{"tools", []string{ // know nothing of accounts, repositories and requests
		"docs", "internal/cache", "internal/durable", "internal/errs", "internal/graphql/document",
		"internal/graphql/exec", "internal/graphql/schema", "internal/highlight", "internal/hook/outgoing", "internal/journal",
		"internal/keyed", "internal/markdown", "internal/space",
	}},
	{"kits", []string{ // the database, Git, buckets, HTTP and its rights
		"internal/admission", "internal/apidoc", "internal/audit", "internal/backup/tables", "internal/certificate",
		"internal/db", "internal/depot", "internal/fulltext", "internal/git", "internal/identity", "internal/route", "internal/mail", "internal/scope", "internal/web",
	}},
	{"features", []string{
		"internal/account", "internal/activity", "internal/app", "internal/attachment", "internal/autolink", "internal/avatar",
		"internal/checkrun", "internal/codeowner", "internal/commitcomment", "internal/deployment", "internal/detect",
		"internal/external", "internal/file", "internal/follow", "internal/gitdata", "internal/hook", "internal/imageproxy",
		"internal/invitation", "internal/issue",
		"internal/issuekit", "internal/keywords", "internal/label", "internal/lacking", "internal/ldap", "internal/lfs", "internal/license", "internal/markup",
		"internal/milestone", "internal/mirror", "internal/notification", "internal/oauth", "internal/oidc", "internal/packs", "internal/pin", "internal/plant",
		"internal/posting", "internal/pull",
		"internal/ratelimit", "internal/reaction", "internal/release", "internal/repo", "internal/review",
		"internal/rule", "internal/scim", "internal/search", "internal/signature", "internal/signinfile", "internal/signup", "internal/star", "internal/statistic", "internal/status",
		"internal/team",
	}},
	{"use cases", []string{ // what happens to several features at once
		"internal/forge", "internal/hook/payloads", "internal/mail/letter", "internal/mail/reply", "internal/migration",
		"internal/migration/foreign", "internal/migration/gitea", "internal/migration/github", "internal/migration/gitlab",
		"internal/migration/job", "internal/migration/remote",
	}},
	{"faces", []string{ // what people, programs and operators use
		"arbortest", "cmd/arbor", "internal/backup", "internal/doctor", "internal/ephemeral", "internal/fsck",
		"internal/graphql", "internal/page", "internal/seed", "internal/server", "internal/ssh",
	}},
}

// A package must not depend on packages of a higher tier, so that it can be read without them.
func TestImportsPointDownwards(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`,
		"arbor/...").Output()
	testkit.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name, imports := fields[0], fields[1:]
		if isHelper(name) {
			continue
		}
		at := tierOf(name)
		if at < 0 {
			t.Errorf("%s has no place in the tiers: add it", name)
		}
		for _, i := range imports {
			if strings.HasPrefix(i, "arbor/") && (isHelper(i) || tierOf(i) > at) {
				t.Errorf("%s must not import %s", name, i)
			}
		}
	}
}

// tierOf returns the place of a package in tiers: that of the longest folder that holds it, or -1.
func tierOf(name string) int {
	at, longest := -1, 0
	for n, tier := range tiers {
		for _, p := range tier.packages {
			if strings.HasPrefix(name+"/", "arbor/"+p+"/") && len(p) > longest {
				at, longest = n, len(p)
			}
		}
	}
	return at
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
	eachSource(t, func(path, source string) {
		folder, below := strings.CutPrefix(filepath.ToSlash(filepath.Dir(path)), "internal/")
		if !below || isTest(path) {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ParseComments)
		testkit.NoError(t, err)
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Doc != nil {
				noteRoutes(documented, folder, f)
			}
		}
	})
	return documented
}

// eachSource calls fn with each Go file of the project.
func eachSource(t *testing.T, fn func(path, source string)) {
	t.Helper()
	root := os.DirFS(filepath.Join("..", ".."))
	testkit.NoError(t, fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		source, err := fs.ReadFile(root, path)
		fn(path, string(source))
		return err
	}))
}

func isTest(path string) bool { return strings.HasSuffix(path, "_test.go") }

// isBelow reports a path below one of some folders or files, whose names may be cut.
func isBelow(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(path, folder) })
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
	eachSource(t, func(path, source string) {
		// web itself; for people; for git; for tests
		if !isBelow(path, "internal/") || isTest(path) ||
			isBelow(path, "internal/web", "internal/page", "internal/repo/transport", "internal/test") {
			return
		}
		if found := readsQuery.FindString(source); found != "" {
			t.Errorf("%s: %s: read the query by web.QueryOf", path, found)
		}
	})
}

var logsAlone = regexp.MustCompile(`\blog\.(Debug|Info|Warn|Error)\(`)

// A line that is logged without its context lacks the id of the request or job that caused it.
func TestLinesAreLoggedWithTheirContext(t *testing.T) {
	eachSource(t, func(path, source string) {
		if !isBelow(path, "internal/") || isTest(path) || isBelow(path,
			"internal/certificate", "internal/ephemeral", // which work for no request
			"internal/space",        // a disk is all requests'
			"internal/db/sqlitelog", // what a commit does is for all of its writers
			"internal/repo/folder",  // a folder goes when its last reader leaves
		) {
			return
		}
		if found := logsAlone.FindString(source); found != "" {
			t.Errorf("%s: %s): say %sContext(ctx, ...), so that the line has its request's id", path, found,
				found[:len(found)-1])
		}
	})
}

var sharedStep = regexp.MustCompile(
	`\b(repo\.(Insert|DeleteRow|CountForOwner|PutCollaborator|DropCollaborator)|` +
		`settings\.(SetVisibility|SetOwner|FollowOwner)|network\.Leave|\w+\.(WriteRefs|NoteUnreached|UpdateRepo)|activity\.Note\w+|keywords\.NotePush|label\.AddDefaults|\w+\.FollowTransfer|\w+\.FollowAccess|issue\.FollowLoss|star\.FollowVisibility)\(`)

// The steps of a push, a deletion and the like are exported for package forge. A
// feature that took one alone would leave the others out.
func TestSharedStepsAreTakenByForge(t *testing.T) {
	eachSource(t, func(path, source string) {
		found := sharedStep.FindString(source)
		dir := filepath.Base(filepath.Dir(path))
		// The steps of package settings consist of smaller ones.
		inner := dir == "settings" && strings.HasPrefix(found, "repo.CountForOwner")
		if found != "" && dir != "forge" && !inner && !isTest(path) {
			t.Errorf("%s: %s...) is a step of package forge", path, found)
		}
	})
}

// decisions may be cited only when the project itself says what they are.
func TestCitedDecisionsAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "decisions.md"))
	testkit.NoError(t, err)
	cite := regexp.MustCompile(`decisions? (\d+)(?:(?:, | and |-)(\d+))*`)
	number := regexp.MustCompile(`\d+`)
	eachSource(t, func(path, source string) {
		for _, c := range cite.FindAllString(source, -1) {
			for _, n := range number.FindAllString(c, -1) {
				if !strings.Contains(string(text), "\n"+n+". ") {
					t.Errorf("%s cites decision %s, which docs/decisions.md does not have", path, n)
				}
			}
		}
	})
}
