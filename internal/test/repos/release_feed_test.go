package repos_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// releaseTold is what the feed of the repository tells of releases.
func releaseTold(t *testing.T, s *apitest.Server) (list []struct {
	Body   string
	Assets []struct{ ID int64 }
}) {
	t.Helper()
	var events []struct {
		Type    string
		Payload struct {
			Release struct {
				Body   string
				Assets []struct{ ID int64 }
			}
		}
	}
	s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/events?per_page=100", Status: 200}).JSON(t, &events)
	for _, e := range events {
		if e.Type == "ReleaseEvent" {
			list = append(list, e.Payload.Release)
		}
	}
	return list
}

// A release is in feeds once, even if published repeatedly, and with limited data.
func TestFeedIsBounded(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		releaseGarden(t, s, false)
		text := strings.Repeat("😀", 10_001)
		made(t, s, "POST "+releases, `{"tag_name": "v1", "draft": true, "body": "`+text+`"}`)
		for n := range 31 {
			made(t, s, fmt.Sprintf("POST %s/1/assets?name=a%d", releases, n), "x")
		}
		for range 3 {
			for _, draft := range []string{"false", "true", "false"} {
				s.Ask(t, "will", "PATCH "+releases+"/1", `{"draft": `+draft+`}`, 200)
			}
		}
		list := releaseTold(t, s)
		if len(list) != 1 || len(list[0].Assets) != 30 || list[0].Assets[0].ID != 1 {
			t.Fatalf("the feed tells %+v", list)
		}
		if list[0].Body != text[:len(text)-len("😀")] {
			t.Errorf("the feed shows %d bytes of the text", len(list[0].Body))
		}
		s.Check(t, apitest.Case{Do: "GET " + releases + "/1", Status: 200, Want: `{"body": "` + text + `"}`})
	})
}
