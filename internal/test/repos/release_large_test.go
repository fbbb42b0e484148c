package repos_test

import (
	"io"
	"net/http"
	"runtime"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// zeros is a file without an end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// A file of any size goes up and down in the memory of a small one.
func TestLargeAsset(t *testing.T) {
	const size, most = 128 << 20, 8 << 20
	apitest.EachAlone(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "will")
		s.Repo(t, "will/garden", false)
		const at = "/repos/will/garden/releases"
		s.Ask(t, "will", "POST "+at, `{"tag_name": "v1", "draft": true}`, 201)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+at+"/1/assets?name=large",
			io.LimitReader(zeros{}, size))
		testkit.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+s.Token(t, "will"))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a, err := http.DefaultClient.Do(r) // in chunks: its length is not announced
		testkit.NoError(t, err)
		a.Body.Close()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; a.StatusCode != http.StatusCreated || took > most {
			t.Errorf("an upload of %d bytes is answered with %s and takes %d bytes", size, a.Status, took)
		}
		down := s.Measure(t, at+"/assets/1", "will", "application/octet-stream")
		if down.Sent != size || down.Allocated > most {
			t.Errorf("a download sent %d bytes and took %d", down.Sent, down.Allocated)
		}
	})
}
