package account

import (
	"slices"
	"strings"

	"arbor/internal/errs"
)

// MaxLogin is the greatest length of a login (decision 8).
const MaxLogin = 39

// reserved are the folded logins that nobody may register, sorted: the first
// segments of the route table and of pages to come, files that browsers and
// crawlers ask for, and words that mean something else where a login may stand.
var reserved = [...]string{
	"-", ".well-known", "about", "account", "admin", "advisories", "anonymous", "api", "app", "app-manifests",
	"apple-touch-icon.png",
	"applications", "apps", "arbor", "assets", "auth", "authorizations", "avatars", "billing",
	"blog", "branches",
	"codespaces", "collections", "commits", "contact", "dashboard", "debug", "discussions",
	"docs", "download",
	"downloads", "emojis", "enterprise", "enterprises", "events", "explore", "favicon.ico", "features",
	"feed", "feeds",
	"ghost", "gists", "github-apps", "gitignore", "graphql", "healthz", "help", "home", "hooks",
	"import", "install", "installation",
	"invitations", "issues", "jobs", "join", "labels", "legal", "licenses", "livez", "login", "logout",
	"manifest.json",
	"markdown", "marketplace", "me", "meta", "metrics", "milestones", "networks", "new", "none", "noreply",
	"notifications", "null",
	"oauth", "octocat", "openapi", "openapi.json", "openapi.yaml", "organizations", "orgs",
	"packages", "password", "password_reset",
	"plants", "plugins", "privacy", "projects", "public", "pulls", "rate_limit", "raw", "readyz", "register",
	"releases",
	"repos", "repositories", "robots.txt", "root", "scim", "search", "security", "sessions",
	"settings", "setup",
	"signin", "signout", "signup", "site", "sitemap.xml", "sponsors", "starred", "stars", "static",
	"stats", "status",
	"support", "system", "teams", "terms", "tokens", "topics", "trending", "undefined", "user", "users", "v3",
	"version",
	"versions", "watching", "web-flow", "web-flow.gpg", "webhooks", "wiki", "zen",
}

// ReservedLogins returns the folded logins that cannot be registered (decision 58).
func ReservedLogins() []string { return slices.Clone(reserved[:]) }

// CheckLogin reports why a login may not be registered: 422, with a reason for
// people (decision 8). It does not look whether the login is taken.
func CheckLogin(login string) error {
	folded := Fold(login)
	switch {
	case login == "":
		return errs.New(errs.Invalid, "a login must not be empty")
	case len(login) > MaxLogin:
		return errs.Newf(errs.Invalid, "a login has at most %d characters", MaxLogin)
	case !spelled(login):
		return errs.Newf(errs.Invalid, "the login %q may hold only letters, digits, '-', '.' and '_'", login)
	case login == "." || login == "..":
		return errs.Newf(errs.Invalid, "the login must not be %q", login)
	case strings.HasSuffix(folded, ".git") || strings.HasSuffix(folded, ".lock") ||
		strings.HasSuffix(folded, ".keys") || strings.HasSuffix(folded, ".gpg"):
		return errs.Newf(errs.Invalid, "the login %q must not end in .git, .lock, .keys or .gpg", login)
	}
	if _, found := slices.BinarySearch(reserved[:], folded); found {
		return errs.Newf(errs.Invalid, "the login %q is reserved", login)
	}
	return nil
}

// Fold maps names that differ only in ASCII case to the same text (decisions 8, 51).
func Fold(name string) string {
	for i := range len(name) {
		if c := name[i]; 'A' <= c && c <= 'Z' {
			return foldFrom(name, i)
		}
	}
	return name
}

func foldFrom(name string, i int) string {
	b := []byte(name)
	for ; i < len(b); i++ {
		if 'A' <= b[i] && b[i] <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

// botSuffix ends the logins of bots, and no others.
const botSuffix = "[bot]"

// BotLogin returns the login of an App's bot.
func BotLogin(slug string) string { return slug + botSuffix }

// IsMannequinLogin reports whether a mannequin could have this login.
func IsMannequinLogin(login string) bool {
	return strings.HasSuffix(login, "]") && !strings.HasSuffix(login, botSuffix) && Plausible(login)
}

// Plausible reports whether an account could have this login. What could not is
// never handed to SQL, whose engines differ on NUL and on invalid UTF-8.
func Plausible(login string) bool {
	name, rest, of := strings.Cut(login, "[")
	if !of {
		return spelled(login)
	}
	host, closed := strings.CutSuffix(rest, "]")
	return closed && spelled(name) && (host == "bot" || plausibleHost(host))
}

// spelled reports whether a login has a valid form.
func spelled(login string) bool {
	if login == "" || len(login) > MaxLogin {
		return false
	}
	for i := range len(login) {
		switch c := login[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_':
		default:
			return false
		}
	}
	return true
}
