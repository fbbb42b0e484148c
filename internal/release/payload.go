package release

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/text"
	"arbor/internal/issuekit"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Payload is GitHub's release.
type Payload struct {
	URL         string          `json:"url"`
	AssetsURL   string          `json:"assets_url"`
	UploadURL   string          `json:"upload_url"`
	HTMLURL     string          `json:"html_url"`
	ID          int64           `json:"id"`
	Author      *account.Simple `json:"author"`
	NodeID      string          `json:"node_id"`
	Tag         string          `json:"tag_name"`
	Target      string          `json:"target_commitish"`
	Name        *string         `json:"name"`
	Draft       bool            `json:"draft"`
	Immutable   bool            `json:"immutable"` // none is
	Prerelease  bool            `json:"prerelease"`
	CreatedAt   db.Time         `json:"created_at"`
	UpdatedAt   db.Time         `json:"updated_at"`
	PublishedAt db.Time         `json:"published_at"` // null: of a draft
	Assets      []*AssetPayload `json:"assets"`
	TarballURL  *string         `json:"tarball_url"` // null: of a draft
	ZipballURL  *string         `json:"zipball_url"`
	text.Payload
	Reactions *reaction.Object `json:"reactions,omitempty"` // of the preview; as at GitHub missing if there are none
	Rollup    reaction.Rollup  `json:"-"`
}

// AssetPayload is GitHub's release asset.
type AssetPayload struct {
	URL           string          `json:"url"`
	ID            int64           `json:"id"`
	NodeID        string          `json:"node_id"`
	Name          string          `json:"name"`
	Label         *string         `json:"label"`
	Uploader      *account.Simple `json:"uploader"`
	ContentType   string          `json:"content_type"`
	State         string          `json:"state"`
	Size          int64           `json:"size"`
	Digest        string          `json:"digest"`
	DownloadCount int64           `json:"download_count"`
	CreatedAt     db.Time         `json:"created_at"`
	UpdatedAt     db.Time         `json:"updated_at"`
	DownloadURL   string          `json:"browser_download_url"`
}

// Page is some releases with all that their payloads show, read with a fixed number of queries.
type Page struct {
	info    *web.Info
	list    []*Release
	repos   map[repo.ID]*repo.Access
	people  map[account.ID]*account.Account
	assets  map[int64][]*Asset // by release
	rollups map[int64]reaction.Rollup
	bodies  *text.Page
}

// assetBytes is about what an asset takes while its payload is rendered, in bytes.
const assetBytes = 1500

// loadPage reads what payloads of releases show, after it has asked for the memory.
func loadPage(
	ctx context.Context, tx *db.Tx, repos map[repo.ID]*repo.Access, list []*Release,
) (*Page, error) {
	n, err := numberOfAssets(tx, idsOf(list))
	if err == nil {
		err = admission.Hold(ctx, n*assetBytes)
	}
	if err != nil {
		return nil, err
	}
	p := &Page{info: web.From(ctx), list: list, repos: repos}
	if p.assets, err = assetsOf(tx, idsOf(list)); err != nil {
		return nil, err
	}
	if p.rollups, err = reaction.Rollups(tx, reaction.Release, idsOf(list)); err != nil {
		return nil, err
	}
	return p, p.loadPeople(tx)
}

func idsOf(list []*Release) []int64 {
	ids := make([]int64, len(list))
	for n, r := range list {
		ids[n] = r.ID
	}
	return ids
}

// loadPeople reads the authors and the uploaders.
func (p *Page) loadPeople(tx *db.Tx) (err error) {
	people := make([]account.ID, 0, 2*len(p.list))
	for _, r := range p.list {
		people = append(people, r.AuthorID)
	}
	for _, of := range p.assets {
		for _, x := range of {
			people = append(people, x.UploaderID)
		}
	}
	p.people, err = account.ByIDs(tx, db.Unique(people))
	return err
}

// maxFeedAssets is how many assets of a release feeds show, the oldest.
const maxFeedAssets = 30

// Load reads the published releases of the ids, as far as they are in the repositories given, for what tells
// of them: an id for each event. It shows a part of their assets and of their texts.
func Load(ctx context.Context, tx *db.Tx, accesses []*repo.Access, events []int64) (*Page, error) {
	found, err := published(tx, db.Unique(events))
	if err != nil {
		return nil, err
	}
	p := &Page{info: web.From(ctx), repos: make(map[repo.ID]*repo.Access, len(accesses))}
	for _, a := range accesses {
		p.repos[a.ID] = a
	}
	for _, r := range found {
		if p.repos[r.RepoID] != nil {
			p.list = append(p.list, r)
		}
	}
	counts, err := assetCounts(tx, idsOf(p.list))
	if err == nil {
		err = holdEvents(ctx, counts, events)
	}
	if err != nil {
		return nil, err
	}
	if p.assets, err = firstAssets(tx, idsOf(p.list), maxFeedAssets); err != nil {
		return nil, err
	}
	return p, p.loadPeople(tx)
}

// holdEvents asks for the memory of the assets that events show, each its own.
func holdEvents(ctx context.Context, counts map[int64]int64, events []int64) error {
	var n int64
	for _, id := range events {
		n += min(counts[id], maxFeedAssets)
	}
	return admission.Hold(ctx, n*assetBytes)
}

// Bodies prepares the texts, outside a transaction.
func (p *Page) Bodies(out *web.Output, issues *issue.Service) (err error) {
	texts := make([]text.Source, len(p.list))
	for n, r := range p.list {
		texts[n] = text.Source{Access: p.repos[r.RepoID], Body: r.Body}
	}
	p.bodies, err = issues.Bodies(out, texts)
	return err
}

// Release returns the payload of the release with an id; nil for one that was not loaded. Error: that of its
// text.
func (p *Page) Release(id int64) (any, error) {
	for n, r := range p.list {
		if r.ID == id {
			return p.payload(n)
		}
	}
	return nil, nil
}

func (p *Page) payload(n int) (*Payload, error) {
	r := p.list[n]
	a := p.repos[r.RepoID]
	at := issuekit.NewAddresses(p.info, a.Repo)
	self := at.API + "/releases/" + strconv.FormatInt(r.ID, 10)
	out := &Payload{URL: self, AssetsURL: self + "/assets", UploadURL: self + "/assets{?name,label}",
		HTMLURL: at.Page + "/releases/tag/" + escapeTag(r.addressTag()), ID: r.ID,
		Author: account.NewSimple(p.people[r.AuthorID], p.info), NodeID: account.NodeID(Resource, r.ID),
		Tag: r.Tag, Target: r.Target, Name: r.Name, Draft: r.Draft, Prerelease: r.Prerelease,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Assets: []*AssetPayload{}, Rollup: p.rollups[r.ID]}
	if out.Rollup.Total() > 0 && p.info.Media.Preview(web.Reactions) {
		out.Reactions = &reaction.Object{URL: self + "/reactions", Rollup: out.Rollup}
	}
	if !r.Draft {
		out.PublishedAt = r.PublishedAt
		tag := escapeTag(r.Tag)
		out.TarballURL, out.ZipballURL = new(at.API+"/tarball/"+tag), new(at.API+"/zipball/"+tag)
	}
	for _, x := range p.assets[r.ID] {
		out.Assets = append(out.Assets, newAssetPayload(at, r, x, p.people))
	}
	var err error
	out.Payload, err = p.bodies.At(n)
	return out, err
}

func newAssetPayload(
	at *issuekit.Addresses, r *Release, x *Asset, people map[account.ID]*account.Account,
) *AssetPayload {
	return &AssetPayload{URL: at.API + "/releases/assets/" + strconv.FormatInt(x.ID, 10), ID: x.ID,
		NodeID: account.NodeID(AssetResource, x.ID), Name: x.Name, Label: x.Label,
		Uploader: account.NewSimple(people[x.UploaderID], at.Info), ContentType: x.ContentType,
		State: "uploaded",
		Size:  x.File.Size, Digest: "sha256:" + x.File.SHA256, DownloadCount: x.Downloads,
		CreatedAt: x.CreatedAt, UpdatedAt: x.UpdatedAt,
		DownloadURL: at.Page + "/releases/download/" + escapeTag(r.addressTag()) + "/" +
			url.PathEscape(x.Name)}
}

// escapeTag escapes a tag for a path, with its slashes.
func escapeTag(tag string) string {
	parts := strings.Split(tag, "/")
	for n := range parts {
		parts[n] = url.PathEscape(parts[n])
	}
	return strings.Join(parts, "/")
}
