//go:build long

package accounts_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/npm"
	"arbor/internal/test/testkit"
)

// Programs that were written for GitHub's hooks read what its published schemas say; a payload that differs
// breaks them.
func TestPayloadsAreAsGitHubDescribes(t *testing.T) {
	t.Parallel()
	folder := npm.Install(t, "testdata/schemas")
	compile := schemas(t, filepath.Join(folder,
		"node_modules/@octokit/openapi-webhooks/generated/ghes-3.19.json"))
	s := apitest.Start(t, db.SQLite, loopback)
	seen := map[string]bool{}
	all := slices.Concat(story(t, s), checks(t, apitest.Start(t, db.SQLite, loopback)),
		installations(t, apitest.Start(t, db.SQLite, loopback)))
	for _, d := range all {
		name := strings.NewReplacer(".", "-", "_", "-").Replace(d.name())
		if d.Event == "repository_dispatch" {
			name = "repository-dispatch-sample"
		}
		// newer than that server
		if seen[name] || strings.HasPrefix(name, "issue-comment-") && strings.HasSuffix(name, "pinned") {
			continue
		}
		seen[name] = true
		var v any
		testkit.NoError(t, json.Unmarshal(d.Body, &v))
		if d.Event == "repository_dispatch" {
			// the schema is that of Apps
			v.(map[string]any)["installation"] = map[string]any{"id": json.Number("1"), "node_id": ""}
		}
		if err := compile("webhook-" + name).Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d kinds of payloads were held against GitHub's", len(seen))
	}
}

// schemas returns a compiler of GitHub's schemas in a file.
func schemas(t *testing.T, file string) func(name string) *jsonschema.Schema {
	t.Helper()
	b, err := os.ReadFile(file)
	testkit.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	testkit.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	testkit.NoError(t, c.AddResource("github.json", doc))
	return func(name string) *jsonschema.Schema {
		t.Helper()
		compiled, err := c.Compile("github.json#/components/schemas/" + name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return compiled
	}
}

// GitHub's own library for receivers takes our signatures, and refuses others.
func TestOctokitVerifiesSignatures(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("NOT TESTED: node is not on this machine.")
	}
	folder := npm.Workspace(t, npm.Install(t, "testdata/schemas"))
	s := apitest.Start(t, db.SQLite, loopback)
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	r := receive(t, nil)
	s.Check(t, apitest.Case{Do: "POST " + garden + "/hooks", As: "alice", Status: 201,
		Send: `{"config": {"url": "` + r.URL + `", "content_type": "json", "secret": "péas"}}`})
	ping := r.wait(t, 1)[0]
	script := `import { Webhooks } from "@octokit/webhooks";
const [, , secret, signature] = process.argv;
let body = "";
for await (const part of process.stdin) body += part;
console.log(await new Webhooks({ secret }).verify(body, signature));`
	testkit.NoError(t, os.WriteFile(filepath.Join(folder, "verify.mjs"), []byte(script), 0o600))
	for secret, want := range map[string]string{"péas": "true", "beans": "false"} {
		cmd := exec.CommandContext(t.Context(), "node", "verify.mjs", secret,
			ping.Header.Get("X-Hub-Signature-256"))
		cmd.Dir, cmd.Stdin = folder, strings.NewReader(string(ping.Body))
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("with the secret %s octokit says %s (%v), want %s", secret, out, err, want)
		}
	}
}
