package forge

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"arbor/internal/test/testkit"
)

// followed are statements after which something has to follow that no trigger does: a row for feeds, a note
// of a text that searches find, work for package detect. With each is the place that writes them, and what
// follows there.
var followed = map[string]map[string]string{
	`INSERT INTO issues\b`: {
		"issue/store.go":     "WriteIssue; of a transferred issue LoseIssue",
		"issue/storepast.go": "imports: no feed; fulltext.NoteAll"},
	`UPDATE issues SET[^;]*?\b(title|body) =`: {
		"issue/store.go": "WriteIssue; a transferred issue keeps its texts"},
	`INSERT INTO issue_events\b`: {
		"issue/storepast.go":               "imports: no feed",
		"issue/storeevent.go":              "WriteIssue for closed and reopened; feeds show no others",
		"issue/deletion/storemilestone.go": "demilestoned is in no feed"},
	`INSERT INTO issue_comments\b`: {"issue/comment/store.go": "WriteIssue, by Change.CommentChanged",
		"migration/storebatch.go": "imports: no feed; fulltext.NoteAll"},
	`UPDATE issue_comments SET[^;]*?\bbody =`: {"issue/comment/store.go": "WriteIssue, by Change.CommentChanged",
		"migration/storebatch.go": "imports: no feed; fulltext.NoteAll"},
	`UPDATE issue_comments SET issue_id =`: {"issue/storedeparture.go": "LoseIssue"},
	`(INSERT INTO|UPDATE) reviews\b`: {"review/store.go": "announce, whose event WriteIssue notes for feeds",
		"migration/storebatch.go": "imports: no feed"},
	`INSERT INTO review_comments\b`: {"review/storecomment.go": "announce, the same",
		"migration/storebatch.go": "imports: no feed"},
	`UPDATE review_comments SET pending`: {"review/store.go": "announce, the same"},
	`INSERT INTO releases\b`: {"release/store.go": "PublishRelease, by Service.tell",
		"migration/storefile.go": "imports: no feed"},
	`UPDATE releases SET[^;]*?\bdraft =`: {"release/store.go": "PublishRelease, by Service.tell; a new draft is in no feed"},
	`INSERT INTO commit_comments\b`: {"commitcomment/store.go": "CommentOnCommit",
		"migration/storebatch.go": "imports: no feed"},
	`INSERT INTO repos\b`: {"repo/store.go": "Create; a reserved id is in no index"},
	`UPDATE repos SET[^;]*?\b(name|description|topics|private|default_branch) =`: {
		"repo/settings/store.go":  "Edit, ChangeVisibility, Transfer, Delete",
		"repo/settings/topics.go": "Edit",
		"repo/refstore.go":        "Push, SetDefaultBranch"},
	`INSERT INTO refs\b`: {"repo/refstore.go": "Push"},
	`INSERT INTO accounts\b`: {"account/store.go": "fulltext.NoteAccount",
		"account/storemannequin.go": "mannequins: no search finds them"},
	`UPDATE accounts SET[^;]*?\b(login|name|email) =`: {
		"account/store.go": "fulltext.NoteAccount", "account/storeformer.go": "fulltext.NoteAccount"},
}

// A statement in another place would not be followed: feeds, searches or languages would miss what it writes.
func TestWritersAreFollowed(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "internal")
	literals, patterns := regexp.MustCompile("`[^`]*`"), map[string]*regexp.Regexp{}
	found := map[string]map[string]bool{}
	for pattern := range followed {
		patterns[pattern], found[pattern] = regexp.MustCompile(pattern), map[string]bool{}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.HasPrefix(name, "test/") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, literal := range literals.FindAllString(string(text), -1) {
			for pattern, places := range followed {
				if patterns[pattern].MatchString(literal) {
					found[pattern][name] = true
					if places[name] == "" {
						t.Errorf("%s runs %q: say what follows, as at %s", name, pattern, slices.Collect(maps.Keys(places)))
					}
				}
			}
		}
		return err
	})
	testkit.NoError(t, err)
	for pattern, places := range followed {
		for name := range places {
			if !found[pattern][name] {
				t.Errorf("%s does not run %q any more", name, pattern)
			}
		}
	}
}
