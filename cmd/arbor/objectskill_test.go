//go:build long

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/bucket"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// content of an asset, of which each is another.
func content(name string) string {
	sum := sha256.Sum256([]byte(name))
	return strings.Repeat(hex.EncodeToString(sum[:]), 5000)
}

// kills uploads to two servers, kills one of them again and again, and holds that each file that was acknowledged is
// there whole, on the other one.
func (s *shop) kills(address string, rounds int) {
	t := s.t
	other := s.beside("--objects", address)
	acknowledged := map[string]int64{}
	var mu sync.Mutex
	for round := range rounds {
		var writers sync.WaitGroup
		enough := make(chan struct{}, 100)
		for w := range 4 {
			node := []*instance{s.instance, other}[w%2]
			writers.Go(func() {
				for n := range 5 {
					name := fmt.Sprintf("%d-%d-%d", round, w, n)
					if id := s.upload(node, name, content(name)); id != 0 {
						mu.Lock()
						acknowledged[name] = id
						mu.Unlock()
						enough <- struct{}{}
					} else if node == s.instance {
						return // it is dead
					}
				}
			})
		}
		for range 1 + round%7 {
			<-enough
		}
		s.kill()
		writers.Wait()
		s.start("--objects", address)
	}
	t.Logf("%d files were acknowledged, over %d kills", len(acknowledged), rounds)
	for name, id := range acknowledged {
		if status, text := s.download(other, id); status != 200 || text != content(name) {
			t.Errorf("%s is %d, %d bytes", name, status, len(text))
		}
	}
	if out, err := s.tells("objects", "verify", "--deep"); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
}

func TestKillsWhileUploadingToFolder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		address := "file://" + t.TempDir()
		newShop(t, engine, address).kills(address, rounds())
	})
}

func TestKillsWhileUploadingToBucket(t *testing.T) {
	t.Parallel()
	service := bucket.Start(t)
	var env []string
	for _, entry := range service.Env() {
		env = append(env, entry[0]+"="+entry[1])
	}
	address := service.Address("kills", "")
	newShop(t, db.SQLite, address, env...).kills(address, rounds())
}

// git lfs downloads from the bucket itself, by addresses that need no token.
func TestLFSFromBucket(t *testing.T) {
	t.Parallel()
	service := bucket.Start(t)
	var env []string
	for _, entry := range service.Env() {
		env = append(env, entry[0]+"="+entry[1])
	}
	s := newShop(t, db.SQLite, service.Address("lfs", ""), env...)
	text := content("large")
	sum := sha256.Sum256([]byte(text))
	object := fmt.Sprintf(`{"oid": "%x", "size": %d}`, sum, len(text))
	const lfs = "/alice/garden.git/info/lfs/objects/"
	header := http.Header{"Content-Type": {"application/vnd.git-lfs+json"}, "Accept": {"application/vnd.git-lfs+json"}}
	batch := func(operation string) string {
		res, text := s.do("alice", "POST", lfs+"batch", header, strings.NewReader(
			`{"operation": "`+operation+`", "objects": [`+object+`]}`))
		if res.StatusCode != 200 {
			t.Fatalf("%s: %d %s", operation, res.StatusCode, text)
		}
		return text
	}
	batch("upload")
	res, said := s.do("alice", "PUT", fmt.Sprintf("%s%x/%d", lfs, sum, len(text)), nil, strings.NewReader(text))
	if res.StatusCode != 200 {
		t.Fatalf("the upload: %d %s", res.StatusCode, said)
	}
	var answer struct {
		Objects []struct {
			Actions struct {
				Download struct {
					Href   string
					Header map[string]string
				}
			}
		}
	}
	testkit.NoError(t, json.Unmarshal([]byte(batch("download")), &answer))
	to := answer.Objects[0].Actions.Download
	if !strings.HasPrefix(to.Href, service.URL) || len(to.Header) > 0 {
		t.Errorf("it is downloaded from %s with %v", to.Href, to.Header)
	}
	away := &instance{t: t, url: to.Href}
	if res, got := away.do("", "GET", "", nil, nil); res.StatusCode != 200 || got != text {
		t.Errorf("the download: %d, %d bytes", res.StatusCode, len(got))
	}
}

// rounds is how often the tests kill a server; ARBOR_OBJECT_KILLS says another number.
func rounds() int {
	n := 5
	if text := os.Getenv("ARBOR_OBJECT_KILLS"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			panic(err)
		}
	}
	return n
}

// Without its bucket a server answers what it can, and says so; nothing else than files is affected.
func TestBucketIsAway(t *testing.T) {
	t.Parallel()
	away := t.TempDir()
	s := newShop(t, db.SQLite, "file://"+away)
	id := s.upload(s.instance, "seeds.txt", "seeds")
	testkit.NoError(t, os.Rename(away, away+"-away"))
	defer func() { testkit.NoError(t, os.Rename(away+"-away", away)) }()
	if status, text := s.download(s.instance, id); status != 503 {
		t.Errorf("a download is %d %q", status, text)
	}
	if s.upload(s.instance, "more.txt", "more") != 0 {
		t.Error("an upload is acknowledged")
	}
	s.ok("alice", "POST /repos/alice/garden/issues", `{"title": "rain"}`)
	testkit.Eventually(t, func() bool {
		status, text := s.tryDo("GET", "/readyz", "")
		return status == 200 && strings.Contains(text, "alarm: the storage of repositories and files")
	}, "/readyz does not tell")
	s.stop()
	s.log = &logBuffer{} // which has errors, as it should
}
