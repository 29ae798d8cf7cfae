// Package plans holds the example plans, ready to run against the demo shop of
// package demo, and the data that they read.
//
//	quickstart.yaml   the first plan to run: browsing, buying and price checks, 10 s
//	smoke.yaml        does it work at all: 1 thread, 5 s
//	load.yaml         a normal busy day: to 100 threads, hold 30 s, down
//	stress.yaml       room above that: to 200 threads, hold 30 s, down
//	spike.yaml        a sudden crowd: to 10,000 threads in 1 min, down in 30 s
//	breakpoint.yaml   where it gives way: towards 100,000 threads in 2 h, ends itself
//	soak.yaml         a day of steady traffic: 1,000 threads for 24 h
//	login.yaml        sign in through the web form, then browse; an account per thread
//	checkout.yaml     the JSON API from sign-in to a paid order; tokens, CSV rows, loops
//	rate.yaml         open model: arrivals at a rate, constant and staged
//
// Sizes and lengths are variables of each plan: a day becomes seconds with
// --var hold=2s. Each plan takes the shop's address as --var base=http://….
package plans

import (
	"embed"
	"io/fs"
)

//go:embed *.yaml data/*
var files embed.FS

//go:embed quickstart.yaml
var quickstart string

// FS returns the plans and their data, with the paths that the plans use.
func FS() fs.FS { return files }

// Quickstart returns the text of quickstart.yaml, which needs no other file.
// The caller owns the bytes.
func Quickstart() []byte { return []byte(quickstart) }
