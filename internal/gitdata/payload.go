package gitdata

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/signature"
	"arbor/internal/web"
)

// addresses is a repository in the addresses of a response.
type addresses struct {
	info *web.Info
	id   repo.ID
	api  string // API address of the repository
	page string // address of its page
}

func newPlace(ctx context.Context, a *repo.Access) *addresses {
	info := web.From(ctx)
	return &addresses{info: info, id: a.ID, api: info.API(web.Path("repos", a.Owner.Login, a.Name)),
		page: info.Page(web.Path(a.Owner.Login, a.Name))}
}

// nodeID returns the opaque node_id of an object or ref of the repository.
func (p *addresses) nodeID(kind, name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(account.NodeID(kind, p.id) + ":" + name))
}

// escapePath escapes each segment of a path for an address.
func escapePath(path string) string {
	if path == "" {
		return ""
	}
	return web.Path(strings.Split(path, "/")...)[1:]
}

// stamp formats a time as in all payloads (decision 28).
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// identityJSON is an author or committer as named in the commit.
type identityJSON struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Date  string `json:"date"`
}

func newIdentity(s git.Signature) identityJSON {
	return identityJSON{Name: s.Name, Email: s.Email, Date: stamp(s.When)}
}

type objectJSON struct {
	SHA string `json:"sha"`
	URL string `json:"url"`
}

type parentJSON struct {
	SHA     string `json:"sha"`
	URL     string `json:"url"`
	HTMLURL string `json:"html_url"`
}

// signatureJSON is GitHub's verification.
type signatureJSON struct {
	Verified   bool             `json:"verified"`
	Reason     signature.Reason `json:"reason"`
	Signature  *string          `json:"signature"`
	Payload    *string          `json:"payload"`
	VerifiedAt *db.Time         `json:"verified_at"`
}

// signatureOf renders a signature and the signed payload. signed may be empty.
func signatureOf(signed, payload string, v signature.Verification) signatureJSON {
	j := signatureJSON{Verified: v.Valid(), Reason: v.Reason}
	if signed != "" {
		j.Signature, j.Payload = &signed, new(strings.ToValidUTF8(payload, "\uFFFD"))
	}
	if v.Valid() {
		j.VerifiedAt = &v.At
	}
	return j
}

// verifyCommit verifies the signature of a commit.
func (s *Service) verifyCommit(ctx context.Context, c *git.Commit) (signature.Verification, error) {
	list, err := s.signatures.Verify(ctx, []signature.Signed{signature.OfCommit(c)})
	if err != nil {
		return signature.Verification{}, err
	}
	return list[0], nil
}

// gitCommitJSON is GitHub's git-commit.
type gitCommitJSON struct {
	SHA          string        `json:"sha"`
	NodeID       string        `json:"node_id"`
	URL          string        `json:"url"`
	HTMLURL      string        `json:"html_url"`
	Author       identityJSON  `json:"author"`
	Committer    identityJSON  `json:"committer"`
	Tree         objectJSON    `json:"tree"`
	Message      string        `json:"message"`
	Parents      []parentJSON  `json:"parents"`
	Verification signatureJSON `json:"verification"`
}

// gitCommit renders a commit as a Git object.
func (p *addresses) gitCommit(c *git.Commit, verified signature.Verification) gitCommitJSON {
	sha := string(c.SHA)
	return gitCommitJSON{
		SHA: sha, NodeID: p.nodeID("Commit", sha), URL: p.api + "/git/commits/" + sha,
		HTMLURL: p.page + "/commit/" + sha,
		Author:  newIdentity(c.Author), Committer: newIdentity(c.Committer), Tree: p.tree(c.Tree),
		Message: message(c),
		Parents: p.parents(c, "/git/commits/"), Verification: signatureOf(c.Signed, c.Payload, verified),
	}
}

// message returns the message without trailing newlines, as at GitHub.
func message(c *git.Commit) string { return strings.TrimRight(c.Message, "\n") }

func (p *addresses) tree(sha git.SHA) objectJSON {
	return objectJSON{SHA: string(sha), URL: p.api + "/git/trees/" + string(sha)}
}

func (p *addresses) parents(c *git.Commit, path string) []parentJSON {
	list := make([]parentJSON, len(c.Parents))
	for i, sha := range c.Parents {
		list[i] = parentJSON{SHA: string(sha), URL: p.api + path + string(sha),
			HTMLURL: p.page + "/commit/" + string(sha)}
	}
	return list
}

// CommitPayload is GitHub's commit: with the accounts of its addresses and, for a single commit, with its
// changes.
type CommitPayload struct {
	SHA         string          `json:"sha"`
	NodeID      string          `json:"node_id"`
	Commit      commitBodyJSON  `json:"commit"`
	URL         string          `json:"url"`
	HTMLURL     string          `json:"html_url"`
	CommentsURL string          `json:"comments_url"`
	Author      *account.Simple `json:"author"`
	Committer   *account.Simple `json:"committer"`
	Parents     []parentJSON    `json:"parents"`
	Stats       *statsJSON      `json:"stats,omitempty"`
}

type commitBodyJSON struct {
	Author       identityJSON  `json:"author"`
	Committer    identityJSON  `json:"committer"`
	Message      string        `json:"message"`
	Tree         objectJSON    `json:"tree"`
	URL          string        `json:"url"`
	CommentCount int           `json:"comment_count"`
	Verification signatureJSON `json:"verification"`
}

type statsJSON struct {
	Total     int `json:"total"`
	Additions int `json:"additions"`
	Deletions int `json:"deletions"`
}

// commit renders a commit of a list.
func (p *addresses) commit(c *CommitView) *CommitPayload {
	sha := string(c.SHA)
	url := p.api + "/commits/" + sha
	return &CommitPayload{
		SHA: sha, NodeID: p.nodeID("Commit", sha),
		Commit: commitBodyJSON{
			Author: newIdentity(c.Author), Committer: newIdentity(c.Committer), Message: message(c.Commit),
			Tree: p.tree(c.Tree),
			URL:  p.api + "/git/commits/" + sha, Verification: signatureOf(c.Signed, c.Payload, c.Verification),
		},
		URL: url, HTMLURL: p.page + "/commit/" + sha, CommentsURL: url + "/comments",
		Author: account.NewSimple(c.WrittenBy, p.info), Committer: account.NewSimple(c.CommittedBy, p.info),
		Parents: p.parents(c.Commit, "/commits/"),
	}
}

// eachCommit renders commits for a list in their order. It reads them in batches, because their messages
// may be large.
func (api *API) eachCommit(
	ctx context.Context, out *web.Output, a *repo.Access, shas []git.SHA, fn func(n int, c *CommitPayload) error,
) error {
	p, n := newPlace(ctx, a), 0
	return api.s.eachView(ctx, a, shas, func(part []*CommitView) error {
		for _, c := range part {
			if err := reserve(out, sizeOf(c.Commit)); err != nil {
				return err
			}
			if err := fn(n, p.commit(c)); err != nil {
				return err
			}
			n++
		}
		return nil
	})
}

// commitList is a list of commits.
type commitList struct {
	api    *API
	access *repo.Access
	shas   []git.SHA
}

func (l commitList) render(ctx context.Context, out *web.Output) error {
	out.Buf = append(out.Buf, '[')
	err := l.api.eachCommit(ctx, out, l.access, l.shas, func(n int, c *CommitPayload) error {
		return out.Item(n, c)
	})
	out.Buf = append(out.Buf, ']')
	return err
}

// sizeOf returns the size of a commit's texts in bytes.
func sizeOf(c *git.Commit) int {
	return len(c.Message) + len(c.Payload) + len(c.Signed) + 48*len(c.Parents)
}

// commitAnswer is one commit with its files.
type commitAnswer struct {
	commit  *git.Commit
	payload *CommitPayload
	files   fileList
}

func (c commitAnswer) render(ctx context.Context, out *web.Output) error {
	err := reserve(out, sizeOf(c.commit))
	if err == nil {
		err = out.Open(c.payload)
	}
	if err == nil {
		out.Member("files")
		err = c.files.render(ctx, out)
	}
	out.Close()
	return err
}

// people are accounts by the addresses in commits.
type people map[string]*account.Account

// people finds the accounts of the authors and committers in one query.
func (s *Service) people(ctx context.Context, commits ...*git.Commit) (people, error) {
	emails := make([]string, 0, 2*len(commits))
	for _, c := range commits {
		emails = append(emails, c.Author.Email, c.Committer.Email)
	}
	return db.Get(ctx, s.db, func(tx *db.Tx) (people, error) { return account.ByEmails(tx, emails) })
}

// describe finds the accounts of the authors and committers, and verifies the signatures, in one transaction.
func (s *Service) describe(
	ctx context.Context, commits ...*git.Commit,
) (found people, verified []signature.Verification, err error) {
	emails, signed := make([]string, 0, 2*len(commits)), make([]signature.Signed, len(commits))
	for n, c := range commits {
		emails, signed[n] = append(emails, c.Author.Email, c.Committer.Email), signature.OfCommit(c)
	}
	batch, err := s.signatures.NewBatch(signed)
	if err != nil {
		return nil, nil, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if found, err = account.ByEmails(tx, emails); err == nil {
			err = batch.Load(tx, found)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return found, batch.Results(), nil
}

// Logins finds the accounts of commits' authors and committers by their verified addresses. The returned
// function returns the login of a signature, or "" if it is unknown.
func (s *Service) Logins(ctx context.Context, commits ...*git.Commit) (func(git.Signature) string, error) {
	known, err := s.people(ctx, commits...)
	return func(by git.Signature) string {
		if a := known[account.Fold(by.Email)]; a != nil {
			return a.Login
		}
		return ""
	}, err
}

// ChangedFile is a changed file: GitHub's diff-entry.
type ChangedFile struct {
	SHA         *string `json:"sha"`
	Filename    string  `json:"filename"`
	Status      string  `json:"status"`
	Additions   int     `json:"additions"`
	Deletions   int     `json:"deletions"`
	Changes     int     `json:"changes"`
	BlobURL     string  `json:"blob_url"`
	RawURL      string  `json:"raw_url"`
	ContentsURL string  `json:"contents_url"`
	Patch       *string `json:"patch,omitempty"`
	Previous    string  `json:"previous_filename,omitempty"`
}

// file renders a changed file; of a deleted one the addresses lead to where it was
// last.
func (p *addresses) file(f *diff.File, head, base git.SHA) *ChangedFile {
	sha, at := string(f.SHA), string(head)
	if f.Status == 'D' {
		sha, at = string(f.OldSHA), string(base)
	}
	path := escapePath(f.Path)
	out := &ChangedFile{
		SHA: &sha, Filename: f.Path, Status: f.StatusName(), Additions: f.Additions, Deletions: f.Deletions,
		Changes: f.Additions + f.Deletions, BlobURL: p.page + "/blob/" + at + "/" + path,
		RawURL: p.page + "/raw/" + at + "/" + path, ContentsURL: p.api + "/contents/" + path + "?ref=" + at,
		Previous: f.OldPath,
	}
	if f.HasPatch {
		out.Patch = &f.Patch
	}
	return out
}

// fileList is the changed files of a page, rendered one after the other: each may
// have a large patch.
type fileList struct{ *Changes }

func (l fileList) render(ctx context.Context, out *web.Output) error {
	sum, largest := 0, 0
	for i := range l.Files {
		size := len(l.Files[i].Patch)
		sum, largest = sum+size, max(largest, size)
	}
	if sum > 64<<10 { // they are in memory and are rendered one after another
		if err := out.Reserve(int64(sum + 12*largest)); err != nil {
			return err
		}
	}
	p := newPlace(ctx, l.In)
	return out.List(len(l.Files), func(n int) (any, error) {
		return p.file(&l.Files[n], l.To, l.From), nil
	})
}
