package issuetest

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// CheckIndex holds the index and its counters against the issues' rows. They must agree,
// or lists would lose issues.
func CheckIndex(t *testing.T, s *apitest.Server) {
	t.Helper()
	want, got, counted := map[string]int{}, map[string]int{}, map[string]int{}
	read := func(tx *db.Tx, into map[string]int, n int, query string, row func(v []string) []string) error {
		rows, err := tx.Query(query)
		if err != nil {
			return err
		}
		defer rows.Close()
		values, dest := make([]string, n), make([]any, n)
		for i := range dest {
			dest[i] = &values[i]
		}
		for rows.Next() {
			if err := rows.Scan(dest...); err != nil {
				return err
			}
			for _, key := range row(values) {
				into[key]++
			}
		}
		return rows.Err()
	}
	text := func(names ...string) string {
		for i, n := range names {
			names[i] = "CAST(" + n + " AS TEXT)"
		}
		return strings.Join(names, ", ")
	}
	err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
		err := read(tx, want, 6, `SELECT `+text("id", "repo_id", "state",
			"COALESCE(milestone_id, 0)", "labels", "updated_at")+` FROM issues`, func(v []string) []string {
			base := fmt.Sprintf("issue %s of %s, state %s, updated %s: ", v[0], v[1], v[2], v[5])
			keys := []string{base + "4 " + v[3]}
			if v[3] != "0" {
				keys = append(keys, base+"4 -1")
			}
			labels := v[4]
			if labels == "" {
				labels = "0"
			}
			for id := range strings.SplitSeq(labels, ",") {
				keys = append(keys, base+"5 "+id)
			}
			return keys
		})
		if err != nil {
			return err
		}
		err = read(tx, got, 6, `SELECT `+text("issue_id", "repo_id", "state", "updated_at", "kind", "value")+
			` FROM postings WHERE kind IN (4, 5)`, func(v []string) []string {
			counted[fmt.Sprint(v[1], " ", v[2], " ", v[4], " ", v[5])]++
			return []string{fmt.Sprintf("issue %s of %s, state %s, updated %s: %s %s", v[0], v[1], v[2], v[3],
				v[4], v[5])}
		})
		if err != nil {
			return err
		}
		return read(tx, map[string]int{}, 5, `SELECT `+text("repo_id", "state", "kind", "value", "n")+
			` FROM posting_counts WHERE kind IN (4, 5)`, func(v []string) []string {
			key := fmt.Sprint(v[0], " ", v[1], " ", v[2], " ", v[3])
			if fmt.Sprint(counted[key]) != v[4] {
				t.Errorf("counter %s is %s, and there are %d", key, v[4], counted[key])
			}
			delete(counted, key)
			return nil
		})
	})
	testkit.NoError(t, err)
	if !maps.Equal(want, got) {
		t.Errorf("the index differs from the rows:\n%v\n%v", want, got)
	}
	for key, n := range counted {
		t.Errorf("no counter for %s, which %d issues have", key, n)
	}
}
