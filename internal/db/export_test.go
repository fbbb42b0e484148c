package db

import "io/fs"

// OpenWith is Open with other migrations than the embedded ones.
var OpenWith = open

// MaxMoment is how long a request relies on one moment.
const MaxMoment = maxMoment

// Migrations are the embedded files.
var Migrations, _ = fs.Sub(embedded, "migrations")
