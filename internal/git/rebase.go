package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"arbor/internal/errs"
	"arbor/internal/git/object"
	"arbor/internal/git/process"
	"arbor/internal/git/tree"
)

// MaxRebase is how many commits Rebase takes.
const MaxRebase = 250

// RebaseResult is what comes of Rebase.
type RebaseResult struct {
	Tip      SHA  // the last new commit; base itself where nothing was to do
	Commits  int  // new ones
	Conflict bool // not to be done: a conflict, or other contents than a merge gives
}

// Rebase recreates the commits that head has and base lacks on top of base,
// as `git rebase` does: merges are left out, and so is what no longer changes
// anything. Authors and messages stay, but for messages in old encodings, which
// become UTF-8; signatures go. The commits are new even where base is in head's
// history, as at GitHub. Also as at GitHub, Rebase refuses a result whose tree
// differs from MergeTree's. It moves no ref.
//
// Errors: those of MergeTree; TooLarge for more than MaxRebase commits; Invalid
// for a committer that Signature.Check refuses.
func (r *Repository) Rebase(ctx context.Context, base, head SHA, committer Signature) (RebaseResult, error) {
	if err := committer.Check(); err != nil {
		return RebaseResult{}, fmt.Errorf("committer: %w", err)
	}
	merged, err := r.MergeTree(ctx, base, head)
	if err != nil || merged.Conflict || merged.UpToDate {
		return RebaseResult{Tip: base, Conflict: err == nil && merged.Conflict}, err
	}
	list, err := r.replayed(ctx, base, head)
	if err != nil {
		return RebaseResult{}, err
	}
	on, _, err := r.linksOf(ctx, []SHA{base})
	if err != nil {
		return RebaseResult{}, err
	}
	p := &replay{ctx: ctx, repository: r, trees: tree.NewMerger(r.treeReader(ctx)),
		tip: base, tree: on[0].tree, committer: committer}
	defer p.end()
	for _, sha := range list {
		if err := p.commit(sha); errors.Is(err, errConflict) {
			return RebaseResult{Tip: base, Conflict: true}, nil
		} else if err != nil {
			return RebaseResult{}, err
		}
	}
	if p.tree != merged.Tree {
		return RebaseResult{Tip: base, Conflict: true}, nil
	}
	if err := p.write(); err != nil {
		return RebaseResult{}, err
	}
	r.MarkWhole(p.tip, p.tree)
	return RebaseResult{Tip: p.tip, Commits: p.commits}, nil
}

// replayed lists the commits that a rebase takes, the oldest first.
func (r *Repository) replayed(ctx context.Context, base, head SHA) (list []SHA, err error) {
	c := process.Command{Sub: "rev-list", Flags: []string{"--topo-order", "--reverse", "--no-merges"},
		Revs: []SHA{head}, Not: []SHA{base}}
	err = r.Lines(ctx, c, func(line []byte) error {
		if !object.IsSHA(line) {
			return fmt.Errorf("git rev-list: unexpected line %q", errs.Clip(string(line)))
		}
		if list = append(list, SHA(line)); len(list) > MaxRebase {
			return errs.Newf(errs.TooLarge, "there are too many commits to rebase (maximum is %d)", MaxRebase)
		}
		return nil
	})
	return list, err
}

// errConflict ends a replay.
var errConflict = errors.New("git: the commit does not apply")

// replay recreates commits, one on top of the other.
type replay struct {
	ctx        context.Context
	repository *Repository
	trees      *tree.Merger
	committer  Signature

	tip, tree SHA // the last commit made, and its tree
	commits   int

	pending []NewObject // made and not written yet
	size    int         // of those, in bytes
	scratch *scratch    // nil until git has to merge; also holds pending[:shared]
	shared  int
}

// maxPending bounds what a replay holds in memory, in bytes: more is written
// before it goes on, and stays without use should it fail later.
const maxPending = 32 << 20

func (p *replay) end() {
	if p.scratch != nil {
		p.scratch.drop()
	}
}

// write writes the pending objects, durably.
func (p *replay) write() error {
	_, err := p.repository.WriteObjects(p.ctx, p.pending)
	p.pending, p.size, p.shared = nil, 0, 0
	clear(p.trees.Made)
	return err
}

func (p *replay) add(objects ...NewObject) error {
	for _, o := range objects {
		p.size += len(o.Data)
	}
	p.pending = append(p.pending, objects...)
	if p.size > maxPending {
		return p.write()
	}
	return nil
}

// commit recreates one commit on top of the tip.
func (p *replay) commit(sha SHA) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	_, contents, err := p.repository.Contents(p.ctx, sha, object.MaxCommitBytes)
	if err != nil {
		return err
	}
	c, err := object.ParseCommit(contents)
	if err != nil {
		return fmt.Errorf("git: commit %s: %w", sha, err)
	}
	before := EmptyTree
	if len(c.Parents) > 0 {
		list, _, err := p.repository.linksOf(p.ctx, c.Parents[:1])
		if err != nil {
			return err
		}
		before = list[0].tree
	}
	tree, err := p.apply(before, c.Tree)
	if err != nil {
		return err
	}
	if tree == p.tree && c.Tree != before {
		return nil // its change is there already
	}
	made := replayedCommit(contents, c, tree, p.tip, p.committer)
	p.tip, p.tree = made.SHA(), tree
	p.commits++
	return p.add(made)
}

// apply applies the change from one tree to another to the tip's tree.
func (p *replay) apply(before, after SHA) (SHA, error) {
	merged, err := p.trees.Merge(before, p.tree, after)
	if errors.Is(err, tree.ErrNeedsGit) {
		return p.applyByGit(before, after)
	}
	if err != nil {
		return "", err
	}
	return merged, p.add(p.trees.Objects...)
}

// applyByGit is apply by a process, which merges commits alone: three of them
// are made up in the scratch, whose merge base has the tree before.
func (p *replay) applyByGit(before, after SHA) (SHA, error) {
	if p.scratch == nil {
		var err error
		if p.scratch, err = p.repository.newScratch(); err != nil {
			return "", err
		}
	}
	for ; p.shared < len(p.pending); p.shared++ {
		if err := p.scratch.put(p.pending[p.shared]); err != nil {
			return "", err
		}
	}
	root, err := p.makeUp(before)
	if err != nil {
		return "", err
	}
	ours, err := p.makeUp(p.tree, root)
	if err != nil {
		return "", err
	}
	theirs, err := p.makeUp(after, root)
	if err != nil {
		return "", err
	}
	o, err := p.scratch.merge(p.ctx, ours, theirs)
	if err == nil && o.conflict {
		err = errConflict
	}
	if err != nil {
		return "", err
	}
	objects, err := p.scratch.gather(p.ctx, o.tree)
	if err != nil {
		return "", err
	}
	for _, object := range objects {
		if object.Type == TypeTree {
			p.trees.Made[object.SHA()] = object.Data
		}
	}
	return o.tree, p.add(objects...)
}

// makeUp puts a commit into the scratch.
func (p *replay) makeUp(tree SHA, parents ...SHA) (SHA, error) {
	who := p.committer
	o, err := (&Commit{Tree: tree, Parents: parents, Author: who, Committer: who, Message: "\n"}).Encode()
	if err != nil {
		return "", err
	}
	return o.SHA(), p.scratch.put(o)
}

// replayedCommit is a commit with another tree, parent and committer. Author and
// message are kept to the byte, unless they are in an old encoding.
func replayedCommit(contents []byte, c *Commit, tree, parent SHA, committer Signature) NewObject {
	header, message, _ := bytes.Cut(contents, []byte("\n\n"))
	var author []byte
	for line := range bytes.SplitSeq(header, []byte("\n")) {
		if bytes.HasPrefix(line, []byte("author ")) && author == nil {
			author = bytes.TrimPrefix(line, []byte("author "))
		}
	}
	if c.Encoding != "" {
		author, message = []byte(object.ToUTF8(string(author), c.Encoding)), []byte(c.Message)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\nparent %s\nauthor %s\ncommitter %s\n\n%s", tree, parent, author,
		committer, message)
	return NewObject{Type: TypeCommit, Data: b.Bytes()}
}
