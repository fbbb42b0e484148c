package depot

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// identityKey is the key of the object that names the store to which a depot belongs.
const identityKey = "arbor-store.json"

// maxIdentity bounds the object in bytes.
const maxIdentity = 4 << 10

// identity is what the object holds.
type identity struct {
	Store string `json:"store"` // the id
	Depot string `json:"depot"` // a random id of the depot, by which two addresses of one place are recognized

	// Database is only in the file of a data folder (package identity), which has the same name.
	Database *string `json:"database,omitempty"`
}

// IdentityError is returned for a depot that does not belong to the store. Its text is one line for the operator.
type IdentityError struct{ line string }

// Error returns the line.
func (e *IdentityError) Error() string { return e.line }

// parseIdentity reads the object.
func parseIdentity(data []byte) (identity, error) {
	var i identity
	err := json.Unmarshal(data, &i)
	if err == nil && i.Store == "" {
		err = errors.New("it names no store")
	}
	return i, err
}

// Bind writes the store's id into an empty depot. It does nothing if the depot already holds this id. Errors:
// *IdentityError for a depot of another store, and for a depot that is not empty and holds no id.
func (d *Depot) Bind(ctx context.Context) error {
	err := d.Check(ctx)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	full := false
	err = d.ask(ctx, "list", listTime, func(ctx context.Context) error {
		err := d.backend.list(ctx, "", func(Entry) error { return errFull })
		if full = errors.Is(err, errFull); full {
			return nil
		}
		return err
	})
	if full {
		return &IdentityError{fmt.Sprintf("%s holds files and no %s: use an empty folder, or an empty prefix of a "+
			"bucket", d.address, identityKey)}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := json.Marshal(identity{Store: d.store, Depot: rand.Text()})
	if err != nil {
		return err
	}
	err = d.ask(ctx, "put", answerTime, func(ctx context.Context) error {
		return d.backend.create(ctx, identityKey, append(data, '\n'))
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.Check(ctx)
}

var errFull = errors.New("depot: it is not empty")

// Empty reports whether the depot holds nothing but the store's id.
func (d *Depot) Empty(ctx context.Context) (bool, error) {
	empty := true
	err := d.List(ctx, "", func(e Entry) error {
		empty = empty && e.Key == identityKey
		return nil
	})
	return empty, err
}

// SecretKeys begins the keys of objects that hold the store's secret keys, for its other nodes.
const SecretKeys = "keys/"

// Clear removes all objects whose keys begin with a prefix, which ends with a slash.
func (d *Depot) Clear(ctx context.Context, prefix string) error {
	var keys []string
	err := d.List(ctx, prefix, func(e Entry) error {
		keys = append(keys, e.Key)
		return nil
	})
	for part := range slices.Chunk(keys, MaxKeys) {
		if err == nil {
			err = d.Delete(ctx, part)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Release removes the store's id from an empty depot, so that another store may use it.
func (d *Depot) Release(ctx context.Context) error { return d.Delete(ctx, []string{identityKey}) }

// Check reads the id that the depot holds, and compares it with the store's. Errors: *IdentityError, which is
// fs.ErrNotExist if there is no id; 503.
func (d *Depot) Check(ctx context.Context) error {
	var data []byte
	var id string
	err := d.ask(ctx, "get", answerTime, func(ctx context.Context) error {
		in, _, err := d.backend.get(ctx, identityKey, 0, maxIdentity)
		if err != nil {
			return err
		}
		data, err = io.ReadAll(io.LimitReader(in, maxIdentity))
		return errors.Join(err, in.Close())
	})
	if err == nil {
		id, err = d.compare(data)
	} else if errors.Is(err, fs.ErrNotExist) {
		wrong := &IdentityError{fmt.Sprintf("%s holds no %s: it is not the bucket or folder of this store, or somebody "+
			"emptied it", d.address, identityKey)}
		err = fmt.Errorf("%w (%w)", wrong, err)
	}
	var wrong *IdentityError
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		d.known, d.id = true, id
	} else if errors.As(err, &wrong) {
		d.known = false
	}
	return err
}

// Same reports whether another depot is the same place under another address. Call d.Check before. Errors: those of
// Check for the other depot.
func (d *Depot) Same(ctx context.Context, other *Depot) (bool, error) {
	if err := other.Check(ctx); err != nil {
		return false, err
	}
	id := d.placeID()
	return id != "" && id == other.placeID(), nil
}

func (d *Depot) placeID() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.id
}

// compare returns the id of the depot whose object was read.
func (d *Depot) compare(data []byte) (id string, err error) {
	i, err := parseIdentity(data)
	if err != nil {
		return "", &IdentityError{fmt.Sprintf("%s of %s cannot be read (%v): it is not this store's", identityKey,
			d.address, err)}
	}
	if i.Database != nil {
		return "", &IdentityError{fmt.Sprintf("%s is the data folder of a store: use another folder", d.address)}
	}
	if i.Store != d.store {
		return "", &IdentityError{fmt.Sprintf("%s belongs to another store: use a bucket, prefix or folder of this "+
			"store's own", d.address)}
	}
	return i.Depot, nil
}

// ready returns an error unless Check has found that the depot belongs to the store.
func (d *Depot) ready(ctx context.Context) error {
	d.mu.Lock()
	known := d.known
	d.mu.Unlock()
	if known {
		return nil
	}
	if err := d.Check(ctx); err != nil {
		return Unavailable(err)
	}
	return nil
}
