// Package mail sends mail by an SMTP server.
//
//	mail.go     what waits to be sent: Add writes a row in the transaction of what the mail tells
//	link.go     links in mails that do something once, and how often mail may be asked for
//	sign.go     signed addresses in mails that need no row: to unsubscribe
//	store.go    the SQL
//	sender.go   the worker: one mail after the other, leased, so that any number of nodes send each once
//	config.go   the mail server: its settings, connections, a check
//	message.go  the form of a message
//
// Tables: mails, mail_sites, mail_links, mail_counts, mail_keys.
//
// A row names what a mail is about. Its text is rendered when it is sent (package letter), by functions that ask for
// rights again and find that there is nothing to send any more. So the queue holds no texts and no secrets of links.
// While no server sends mail, no rows are written: mail_sites is empty.
//
// A mail that the server does not take is tried again for days, less and less often; while the server cannot be reached,
// mails only wait. A node that dies between sending a mail and removing its row sends it twice, with one Message-ID.
package mail

import (
	"encoding/json"
	"errors"

	"arbor/internal/db"
)

// Kind is what a mail is about, as stored.
type Kind string

// Mail is a row of the queue.
type Mail struct {
	ID        int64
	Kind      Kind
	Account   int64  // whose it is; 0: of nobody with an account
	Address   string // to which it goes; empty: that of the account when it is sent
	About     any    // in JSON; nil: nothing to say. Of a mail that was read: json.RawMessage
	CreatedAt db.Time
	Must      bool // it is written although many wait, as a notice of a changed password
}

// Read reads what the mail is about.
func (m *Mail) Read(into any) error {
	raw, is := m.About.(json.RawMessage)
	if !is {
		return errors.New("mail: a mail that was not read has no text")
	}
	return json.Unmarshal(raw, into)
}

// Topic is that of the bell which wakes the sender.
const Topic = "mail"

// How many mails of an account wait at one time, and of nobody with an account; others are not written.
const (
	mostWaiting  = 200
	mostOfNobody = 5000
	mostThatMust = 2000
)

// Add writes a mail, which leaves after the commit. It writes none while no server sends mail, none to an account
// without a verified address unless the mail has one of its own, and none of an account for which too many wait.
func Add(tx *db.Tx, m Mail) error {
	about := []byte("{}")
	if m.About != nil {
		var err error
		if about, err = json.Marshal(m.About); err != nil {
			return err
		}
	}
	return insert(tx, &m, string(about))
}
