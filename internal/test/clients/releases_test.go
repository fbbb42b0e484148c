//go:build long

package clients

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-github/v89/github"

	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A release as the programs make it that release software: a draft first, its files, and then it is
// published; and what those do who download it.
func releases(t *testing.T, h *hub) {
	h.User(t, "alice")
	h.Import(t, h.Repo(t, "alice/garden", false), gittest.Repository(t, 2, 2))
	ctx, alice, nobody := t.Context(), h.as(t, "alice").Repositories, h.as(t, "").Repositories
	draft := got[*github.RepositoryRelease](t)(alice.CreateRelease(ctx, "alice", "garden",
		github.CreateReleaseRequest{TagName: "v1",
			Draft: github.Ptr(true), MakeLatest: github.Ptr("true"), GenerateReleaseNotes: github.Ptr(true)}))
	path := filepath.Join(t.TempDir(), "seeds.txt")
	testkit.NoError(t, os.WriteFile(path, []byte("peas"), 0o600))
	file, err := os.Open(path)
	testkit.NoError(t, err)
	defer file.Close()
	asset := got[*github.ReleaseAsset](t)(alice.UploadReleaseAsset(ctx, "alice", "garden", draft.ID,
		&github.UploadOptions{Name: "seeds.txt", Label: "All seeds"}, file))
	equal(t, "the asset", asset.GetName()+" "+asset.GetLabel()+" "+asset.GetState(),
		"seeds.txt All seeds uploaded")
	equal(t, "its size", asset.GetSize(), 4)
	byAddress := got[*github.ReleaseAsset](t)(alice.UploadReleaseAssetFromRelease(ctx, draft,
		&github.UploadOptions{Name: "more.txt"}, strings.NewReader("beans"), 5))
	equal(t, "where upload_url leads", byAddress.GetSize(), 5)
	_, _, err = nobody.GetRelease(ctx, "alice", "garden", draft.ID)
	refused(t, err, http.StatusNotFound, "", "")
	shown := got[*github.RepositoryRelease](t)(alice.UpdateRelease(ctx, "alice", "garden", draft.ID,
		github.UpdateReleaseRequest{Draft: github.Ptr(false), Name: github.Ptr("Spring")}))
	equal(t, "it is shown", shown.Draft, false)
	latest := got[*github.RepositoryRelease](t)(nobody.GetLatestRelease(ctx, "alice", "garden"))
	equal(t, "the latest", latest.GetName(), "Spring")
	equal(t, "by its tag", got[*github.RepositoryRelease](t)(nobody.GetReleaseByTag(ctx, "alice", "garden",
		"v1")).ID, draft.ID)
	equal(t, "all", len(got[[]*github.RepositoryRelease](t)(nobody.ListReleases(ctx, "alice",
		"garden", nil))), 1)
	equal(t, "its assets",
		len(got[[]*github.ReleaseAsset](t)(nobody.ListReleaseAssets(ctx, "alice", "garden", draft.ID, nil))),
		2)
	body, _, err := nobody.DownloadReleaseAsset(ctx, "alice", "garden", asset.GetID(), http.DefaultClient)
	testkit.NoError(t, err)
	defer body.Close()
	bytes, err := io.ReadAll(body)
	equal(t, "what comes down", string(bytes), "peas")
	if err != nil {
		t.Error(err)
	}
	renamed := got[*github.ReleaseAsset](t)(alice.UpdateReleaseAsset(ctx, "alice", "garden", asset.GetID(),
		github.UpdateReleaseAssetRequest{Name: github.Ptr("peas.txt")}))
	equal(t, "another name", renamed.GetName(), "peas.txt")
	equal(t, "downloads", renamed.GetDownloadCount(), 1)
	_, _, err = alice.CreateRelease(ctx, "alice", "garden", github.CreateReleaseRequest{TagName: "v1"})
	refused(t, err, http.StatusUnprocessableEntity, "tag_name", "already_exists")
	done(t)(alice.DeleteReleaseAsset(ctx, "alice", "garden", asset.GetID()))
	done(t)(alice.DeleteRelease(ctx, "alice", "garden", draft.ID))
}
