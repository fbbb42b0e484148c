package deploy

import (
	"regexp"
	"strings"
	"testing"

	"arbor/internal/test/testkit"
)

var (
	nginxMap = regexp.MustCompile(`(?s)map \$uri \$repository \{\n(.*?\n)\s*\}`)
	mapLine  = regexp.MustCompile(`^"~(\S+)" (\$1|\$request_id);$`)
)

// rule is a line of nginx's map: the first whose pattern matches gives the value.
type rule struct {
	pattern *regexp.Regexp
	value   string
}

// rules returns the map of a configuration of nginx. Its patterns mean the same to PCRE and to Go.
func rules(t *testing.T, configuration string) []rule {
	t.Helper()
	found := nginxMap.FindStringSubmatch(configuration)
	if found == nil {
		t.Fatalf("no map in %s", configuration)
	}
	var all []rule
	for line := range strings.Lines(found[1]) {
		line = strings.TrimSpace(line)
		if line == "default $request_id;" {
			continue
		}
		m := mapLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("cannot read the line %q of the map", line)
		}
		pattern, err := regexp.Compile(m[1])
		testkit.NoError(t, err)
		all = append(all, rule{pattern, m[2]})
	}
	return all
}

// repository returns OWNER/NAME by which a request is sent to a node, or "" if it may go to any.
func repository(all []rule, uri string) string {
	for _, r := range all {
		if m := r.pattern.FindStringSubmatch(uri); m != nil {
			if r.value == "$1" {
				return m[1]
			}
			return ""
		}
	}
	return ""
}

// configurations are nginx's of both files, as the program sees them.
func configurations(t *testing.T) map[string][]rule {
	t.Helper()
	all := map[string][]rule{compose: rules(t, config(t, "balancer"))}
	for _, o := range documents[object](t, kubernetes) {
		if text := o.Data["http-snippet"]; text != "" {
			all[kubernetes] = rules(t, text)
		}
	}
	return all
}

// A node that does not get all requests for a repository downloads its packs in vain.
func TestRequestsForARepositoryGoToOneNode(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"/alice/garden":                            "alice/garden",
		"/alice/garden/":                           "alice/garden",
		"/alice/garden/pull/7/files":               "alice/garden",
		"/alice/garden.git/info/refs":              "alice/garden",
		"/alice/garden/info/refs":                  "alice/garden",
		"/alice/garden.git/git-upload-pack":        "alice/garden",
		"/alice/garden.git/git-receive-pack":       "alice/garden",
		"/alice/garden.git/info/lfs/objects/batch": "alice/garden",
		"/alice/garden.git":                        "alice/garden",
		"/alice/garden.github.io/tree/main":        "alice/garden.github.io",
		"/alice/.github":                           "alice/.github",
		"/repos/alice/garden":                      "alice/garden",
		"/repos/alice/garden/git/refs":             "alice/garden",
		"/api/v3/repos/alice/garden":               "alice/garden",
		"/api/v3/repos/alice/garden/contents/a/b":  "alice/garden",
		"/api/uploads/repos/alice/garden/releases": "alice/garden",
		"/userland/garden":                         "userland/garden",
		"/apis/garden":                             "apis/garden",
		"/":                                        "",
		"/alice":                                   "",
		"/alice/":                                  "",
		"/repos":                                   "",
		"/repos/alice":                             "",
		"/user/repos":                              "",
		"/api/v3/user/repos":                       "",
		"/api/graphql":                             "",
		"/graphql":                                 "",
		"/orgs/acme/repos":                         "",
		"/search/issues":                           "",
		"/settings/profile":                        "",
		"/readyz":                                  "",
	}
	for file, all := range configurations(t) {
		for uri, want := range cases {
			if got := repository(all, uri); got != want {
				t.Errorf("%s sends %s by %q, want %q", file, uri, got, want)
			}
		}
	}
}

// Addresses of no repository, such as /user/repos, would all go to one node if they were taken for a repository's.
func TestOtherRequestsGoToAnyNode(t *testing.T) {
	t.Parallel()
	maps, seen := configurations(t), 0
	if len(maps) != 2 {
		t.Fatalf("there are maps in %d files, want 2", len(maps))
	}
	for line := range strings.Lines(read(t, "internal/server/testdata/routes.txt")) {
		first, _, _ := strings.Cut(strings.Fields(line)[0][1:], "/")
		if first == "" || strings.HasPrefix(first, "{") {
			continue
		}
		seen++
		for file, all := range maps {
			if got := repository(all, "/"+first+"/x"); got != "" {
				t.Errorf("%s takes /%s/x for the repository %s: add %q to the map", file, first, got, first)
			}
		}
	}
	if seen < 100 {
		t.Errorf("the table of routes has %d of no repository", seen)
	}
}
