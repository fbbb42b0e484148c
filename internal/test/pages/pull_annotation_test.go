package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// The changes page shows the annotations of the latest check runs on the head next to their lines, in both
// layouts, also for lines that are not shown, and safely rendered. Annotations of replaced runs and former
// heads disappear.
func TestAnnotationsBesideChanges(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		s.Bot(t, "ci", "alice", "checks=write")
		number := propose(t, s, "tune")
		files := fmt.Sprintf("/alice/plot/pull/%d/files", number)
		run := func(name string, notes ...any) {
			t.Helper()
			api(t, s, "ci[bot]", "POST /repos/alice/plot/check-runs", 201,
				changeObject{"name": name, "head_sha": head(t, s, number),
					"conclusion": "failure", "output": changeObject{"title": "t", "summary": "s",
						"annotations": notes}}, nil)
		}
		note := func(path string, line int, message string) any {
			return changeObject{"path": path, "start_line": line, "end_line": line, "annotation_level": "failure",
				"message": message,
				"title":   apitest.Markup}
		}
		run("lint", note("song.txt", 3, "Off key "+apitest.Markup), note("song.txt", 999, "Past the end"),
			note("absent.txt", 1, "Elsewhere"))
		for _, form := range []string{files, files + "?diff=split"} {
			page := get(t, s, "", form, 200, "Off key &#34;&gt;", "Past the end", ">lint</bdi>", "line 3")
			without(t, page, "Elsewhere", apitest.Markup)
			if at := strings.Index(page, "Off key"); !strings.Contains(page[max(0, at-3000):at], ">3<td>") {
				t.Error("it does not stand below its line")
			}
		}
		long := strings.Repeat("é", 30_000)
		run("long", note("song.txt", 4, long))
		if page := get(t, s, "", files, 200,
			`/runs/2?annotation=4">Full output`); strings.Count(page, "é") > 2000 {
			t.Error("a long message stands whole beside the changes")
		}
		run("lint", note("song.txt", 3, "Still flat"))
		without(t, get(t, s, "", files, 200, "Still flat"), "Off key")
		var many []any
		for n := range 50 {
			many = append(many, note("song.txt", 3, fmt.Sprint("Wrong ", n)))
		}
		run("one", many...)
		without(t, get(t, s, "", files, 200), "Some annotations")
		run("two", many...)
		get(t, s, "", files, 200, "Some annotations", "Still flat")
		api(t, s, "will", "PUT /repos/alice/plot/contents/new.txt", 201,
			changeObject{"message": "m", "content": "eA==", "branch": "tune"}, nil)
		without(t, get(t, s, "", files, 200), "Still flat", "Wrong ")
	})
}
