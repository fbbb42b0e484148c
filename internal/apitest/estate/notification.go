package estate

import (
	"testing"
	"time"

	"arbor/internal/apitest"
	"arbor/internal/testkit"
)

// thread mentions keeper in a new issue and waits until keeper is told: the thread's id.
func (w *World) thread(t *testing.T, h *Home) string {
	t.Helper()
	title := w.name()
	w.OK(t, "writer", "POST "+h.path()+"/issues", `{"title":"`+title+`","body":"@keeper"}`)
	for end := time.Now().Add(testkit.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var list []struct {
			ID      string
			Subject struct{ Title string }
		}
		w.Check(t, apitest.Case{Do: "GET /notifications", As: "keeper", Status: 200}).JSON(t, &list)
		for _, x := range list {
			if x.Subject.Title == title {
				return x.ID
			}
		}
	}
	t.Fatal("keeper was not told of a mention")
	return ""
}
