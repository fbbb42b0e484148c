package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/repo"
)

// maxCommands is the number of refs that one push may move.
const maxCommands = 20_000

// maxRefs is how many refs a repository may have after a push: each listing reads all.
const maxRefs = 100_000

// POST /{owner}/{repo}/git-receive-pack
//
// ReceivePack takes a push: commands, then a pack. What becomes of each ref is
// told in git's own protocol.
func (api *API) ReceivePack(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if r.Header.Get("Content-Type") != "application/x-git-receive-pack-request" {
		return errs.New(errs.UnsupportedMedia, "this address is for git push")
	}
	admission.As(r.Context(), admission.Push)
	release, err := admission.Slot(r.Context(), admission.Upload)
	if err != nil {
		return err
	}
	defer release()
	out := answerTo(w, r)
	http.NewResponseController(w).EnableFullDuplex()
	body, err := unpack(r)
	if err != nil {
		return err
	}
	request, pack, err := wire.ReadPushRequest(body, maxCommands)
	if err != nil {
		return err
	}
	if !request.HasPack() {
		// A proxy breaks an answer off that begins before it has read the request to its end.
		io.CopyN(io.Discard, pack, maxRefusedRequest)
	}
	noCache(w.Header())
	w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
	if len(request.Commands) == 0 {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	return api.s.receivePack(r.Context(), a, request, pack, out)
}

// receivePack does a push whose commands were read, and reports what became of them. An error is
// the server's; then nothing is reported.
func (s *Service) receivePack(
	ctx context.Context, a *repo.Access, request *wire.PushRequest, pack io.Reader, out io.Writer,
) error {
	p := &push{s: s, access: a, request: request, results: make([]wire.RefResult, len(request.Commands))}
	if request.HasPack() {
		p.pack = &countingReader{r: pack}
	}
	var bands *wire.Sideband
	if request.Capabilities.SideBand64k {
		bands = wire.NewSideband(out, nil)
		p.messages = bands.Band(wire.BandProgress)
		if !request.Capabilities.Quiet {
			p.progress = p.messages
		}
	}
	err := p.run(ctx)
	if p.pack != nil {
		io.CopyN(io.Discard, p.pack, maxDrained)
	}
	if err != nil {
		return err
	}
	return wire.WriteReport(out, bands, request.Capabilities, wire.Report{Unpack: p.unpack, Refs: p.results})
}

// maxDrained is how much of a refused pack is read to its end, in bytes, so
// that git hears why instead of seeing a broken connection.
const maxDrained = 4 << 30

type countingReader struct {
	r        io.Reader
	n        int64
	progress func(n int64) // may be nil
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.progress != nil {
		c.progress(c.n)
	}
	return n, err
}

// push is one push on its way.
type push struct {
	s        *Service
	access   *repo.Access
	request  *wire.PushRequest
	pack     *countingReader // nil when only refs are deleted
	objects  *git.Repository
	progress io.Writer // nil when the client wants none
	messages io.Writer // to the person who pushes, also if that wants no progress; nil: there is no such channel

	unpack  string           // why the pack was refused
	results []wire.RefResult // command by command
}

// run does the whole push. Errors of the client go into the report; run returns only those of the server.
func (p *push) run(ctx context.Context) error {
	err := p.attempt(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return p.unlessGone(ctx, err)
}

func (p *push) attempt(ctx context.Context) error {
	p.checkNames()
	if err := p.checkMaintainer(ctx); err != nil || p.settled() {
		return err
	}
	if p.pack != nil { // none is received if there is no room at all
		err := p.s.repos.MayGrowBy(ctx, p.access.ID, 1)
		if errs.Is(err, errs.Forbidden) {
			p.refuseRest(repo.ErrText(err))
			return nil
		}
		if err != nil {
			return err
		}
	}
	objects, release, err := p.s.repos.Git(ctx, p.access)
	if err != nil {
		return err
	}
	defer release()
	p.objects = objects
	quarantine, err := p.receive(ctx)
	if err != nil || p.unpack != "" {
		return err
	}
	defer func() {
		if err := quarantine.Discard(); err != nil {
			p.s.log.WarnContext(ctx, "quarantine stays until the next sweep", "error", err)
		}
	}()
	updates, err := p.updates(quarantine)
	if err != nil {
		return err
	}
	if p.settled() {
		return nil
	}
	return p.commit(ctx, quarantine, updates)
}

// checkNames refuses updates that no push may make, regardless of their objects.
func (p *push) checkNames() {
	seen := map[string]int{}
	for i, c := range p.request.Commands {
		p.results[i].Name = c.Name
		if first, again := seen[c.Name]; again {
			p.refuse(first, "the same ref twice")
			p.refuse(i, "the same ref twice")
		}
		seen[c.Name] = i
		if strings.HasPrefix(c.Name, repo.PullRefs) {
			p.refuse(i, "refs/pull/* is read-only")
		}
		if c.IsDelete() {
			continue
		}
		if err := git.CheckRefName(c.Name); err != nil {
			p.refuse(i, repo.ErrText(err))
		}
	}
}

// receive takes the pack into quarantine. A pack that is refused is noted in
// unpack, and each of its refs.
func (p *push) receive(ctx context.Context) (*git.Quarantine, error) {
	refs, err := p.s.repos.Refs(ctx, p.access)
	if err != nil {
		return nil, err
	}
	p.checkCount(len(refs.List))
	o := git.ReceiveOptions{
		Commands: p.wanted(), Tips: make([]git.SHA, len(refs.List)),
		Shallow: len(p.request.Shallow) > 0, Progress: p.progress,
	}
	if p.pack != nil {
		o.Pack = p.pack
	}
	for i, ref := range refs.List {
		o.Tips[i] = ref.SHA
	}
	o.Absent = p.s.repos.AbsentTo(p.access)
	quarantine, err := p.objects.Receive(ctx, o)
	switch errs.KindOf(err) {
	case errs.Invalid, errs.TooLarge, errs.Malformed:
		p.unpack = repo.ErrText(err)
		for i := range p.results {
			p.refuse(i, "unpacker error")
		}
		return nil, nil
	}
	return quarantine, err
}

// checkCount refuses new refs of a repository that has as many as it may.
func (p *push) checkCount(have int) {
	for i, c := range p.request.Commands {
		if p.results[i].Error != "" || !c.IsCreate() {
			continue
		}
		if have++; have > maxRefs {
			p.refuse(i, fmt.Sprintf("a repository may have at most %d refs", maxRefs))
		}
	}
}

// updates returns the ref updates of the commands, now that the objects are known.
// Those of refused commands stay zero.
func (p *push) updates(q *git.Quarantine) ([]repo.RefUpdate, error) {
	list := make([]repo.RefUpdate, len(p.request.Commands))
	for i, c := range p.request.Commands {
		if p.results[i].Error != "" {
			continue
		}
		u := repo.RefUpdate{Name: c.Name, Old: c.Old, New: c.New, By: p.access.Caller.ID,
			DeployKey: p.access.Caller.Reach == account.OneRepo}
		if !c.IsDelete() {
			object, peeled, err := q.Peeled(c.New)
			if err != nil {
				return nil, err
			}
			if strings.HasPrefix(c.Name, git.Heads) && object.Type != git.TypeCommit {
				p.refuse(i, "a branch must be a commit")
				continue
			}
			if peeled.SHA != object.SHA {
				u.Peeled = peeled.SHA
			}
		}
		list[i] = u
	}
	return list, nil
}

// commit checks the old values and the quota, makes the objects durable, and moves the refs.
// From the first durable object on, the push goes through also when its client
// hangs up.
func (p *push) commit(ctx context.Context, q *git.Quarantine, all []repo.RefUpdate) error {
	unlock, err := p.s.locks.Lock(ctx, p.access.ID)
	if err != nil {
		return err
	}
	defer unlock()
	push := repo.Push{RepoID: p.access.ID, Purges: p.access.Purges, Atomic: p.request.Capabilities.Atomic,
		GrownKB: p.kilobytes(), If: p.stillMay,
		As: db.Server} // stillMay asks for the right, ref by ref
	var index []int
	index, push.Updates = p.open(all)
	err = p.s.db.Read(ctx, func(tx *db.Tx) error {
		now, err := p.accessNow(tx)
		if err != nil {
			return err
		}
		if now.Role < account.Push {
			branches, err := p.s.maintainerBranches(tx, now, false)
			if err != nil {
				return err
			}
			tx.OnCommit(func() { p.refuseOthers(branches, noLonger) })
		}
		refused, err := p.s.repos.Refusals(tx, now, push)
		tx.OnCommit(func() { p.refuseAll(index, refused) })
		return err
	})
	if err != nil || p.settled() {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	if err := q.Keep(ctx); err != nil {
		marked := p.s.repos.MarkUnreached(ctx, p.access.ID) // perhaps they are kept
		if errs.Is(err, errs.NoRoom) && marked == nil {     // git does not show the body of a 507
			p.s.log.WarnContext(ctx, "a push was refused for want of room", "error", err)
			p.refuseRest(reason(err))
			return nil
		}
		return errors.Join(err, marked)
	}
	index, push.Updates = p.open(all)
	p.findForward(ctx, push.Updates)
	refused, err := p.s.repos.MoveRefs(ctx, push)
	p.refuseAll(index, refused)
	p.explain(refused)
	p.s.repos.Wrote(p.access.ID)
	return err
}

// maxForward is how many branches of one push are looked at by findForward.
const maxForward = 64

// findForward notes which branches only grow, now that the objects are here.
// If that is unknown, the branch counts as one that does not only grow.
func (p *push) findForward(ctx context.Context, updates []repo.RefUpdate) {
	looked := 0
	for i := range updates {
		u := &updates[i]
		if !u.Leaves() || u.New == git.ZeroSHA || !strings.HasPrefix(u.Name, git.Heads) ||
			looked == maxForward {
			continue
		}
		looked++
		forward, err := p.objects.IsAncestor(ctx, u.Old, u.New)
		u.Forward = err == nil && forward
	}
}

// accessNow is the access as it is now: a push may take so long that its caller
// loses the role, or the token, or is suspended on the way. Without a token it has no role.
func (p *push) accessNow(tx *db.Tx) (*repo.Access, error) {
	now, err := p.access.Now(tx)
	if errs.Is(err, errs.Unauthenticated) || errs.Is(err, errs.Forbidden) {
		return &repo.Access{Repo: p.access.Repo}, nil
	}
	return now, err
}

// unlessGone returns the error of a push, unless the removal of the repository
// in the meantime explains it; then nothing of it stays. Or a purge: its objects are in
// the folder of before.
func (p *push) unlessGone(ctx context.Context, cause error) error {
	var now db.Time
	var gone, purged bool
	err := p.s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := repo.ByID(tx, nil, p.access.ID)
		if gone = errs.Is(err, errs.NotFound); gone {
			now, err = tx.Clock()
		}
		purged = err == nil && !gone && a.Purges != p.access.Purges
		return err
	})
	if purged {
		p.refuseRest("objects of the repository were purged: push again")
		return nil
	}
	if err != nil || !gone {
		return cause
	}
	p.s.repos.SetAside(repo.Folder{ID: p.access.ID, Purges: p.access.Purges}, now, nil)
	p.refuseRest("the repository was deleted")
	return nil
}

func (p *push) kilobytes() int64 {
	if p.pack == nil {
		return 0
	}
	return (p.pack.n + 1023) / 1024
}
