package transport

import (
	"arbor/internal/git/wire"
	"arbor/internal/repo"
)

// refuse notes why a command is not done; the first reason counts.
func (p *push) refuse(i int, reason string) {
	if p.results[i].Error == "" {
		p.results[i].Error = reason
	}
}

// settled reports that nothing is left to do: all refused or, in an atomic
// push, one.
func (p *push) settled() bool {
	refused := 0
	for _, r := range p.results {
		if r.Error != "" {
			refused++
		}
	}
	if refused > 0 && refused < len(p.results) && p.request.Capabilities.Atomic {
		for i := range p.results {
			p.refuse(i, "atomic push failed")
		}
		return true
	}
	return refused == len(p.results)
}

// wanted are the commands that are not refused.
func (p *push) wanted() []wire.Command {
	var list []wire.Command
	for i, c := range p.request.Commands {
		if p.results[i].Error == "" {
			list = append(list, c)
		}
	}
	return list
}

// refuseRest refuses every command that is not refused yet.
func (p *push) refuseRest(reason string) {
	for i := range p.results {
		p.refuse(i, reason)
	}
}

// open lists the updates that are not refused, with their places.
func (p *push) open(all []repo.RefUpdate) (index []int, updates []repo.RefUpdate) {
	for i, u := range all {
		if p.results[i].Error == "" {
			index = append(index, i)
			updates = append(updates, u)
		}
	}
	return index, updates
}

func (p *push) refuseAll(index []int, refused []error) {
	for k, err := range refused {
		if err != nil {
			p.refuse(index[k], repo.ErrText(err))
		}
	}
}
