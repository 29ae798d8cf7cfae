//go:build deps

// Temporary: keeps every dependency in go.mod while packages are being written.
package runner

import (
	_ "github.com/HdrHistogram/hdrhistogram-go"
	_ "github.com/andybalholm/brotli"
	_ "github.com/andybalholm/cascadia"
	_ "github.com/antchfx/htmlquery"
	_ "github.com/antchfx/xmlquery"
	_ "github.com/expr-lang/expr"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/jmespath/go-jmespath"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/mattn/go-runewidth"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/spf13/cobra"
	_ "github.com/theory/jsonpath"
	_ "github.com/tidwall/gjson"
	_ "github.com/xuri/excelize/v2"
	_ "go.uber.org/goleak"
	_ "golang.org/x/net/html"
	_ "golang.org/x/net/publicsuffix"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "golang.org/x/text/width"
	_ "gopkg.in/yaml.v3"
)
