package witness

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// Process is a witness that runs beside the test.
type Process struct {
	HTTP, HTTPS string // addresses, host:port

	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Start runs a command whose main function is Main.
func Start(c *exec.Cmd) (*Process, error) {
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: c, in: in, out: bufio.NewReaderSize(out, 1<<16)}
	line, err := p.out.ReadString('\n')
	addresses := strings.Fields(line)
	if err != nil || len(addresses) != 2 {
		_ = p.Close()
		return nil, fmt.Errorf("the witness said %q: %w", line, err)
	}
	p.HTTP, p.HTTPS = addresses[0], addresses[1]
	return p, nil
}

// Close ends the process.
func (p *Process) Close() error {
	_ = p.in.Close()
	return p.cmd.Wait()
}

// Log returns the records of a book once none of its requests is under way.
func (p *Process) Log(book string) ([]Record, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.in, "log", book)
	var all []Record
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("read the log of %s: %w", book, err)
		}
		line = strings.TrimSpace(line)
		if n, ok := strings.CutPrefix(line, "end "); ok {
			if n != strconv.Itoa(len(all)) {
				return nil, fmt.Errorf("the log of %s has %d records and says %s", book, len(all), n)
			}
			return all, nil
		}
		r, err := parseRecord(book, line)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
}

// Most returns how many connections were open at once.
func (p *Process) Most() (int, error) { return p.number("most") }

// Seen returns how many requests of a book have come so far.
func (p *Process) Seen(book string) (int, error) { return p.number("seen " + book) }

func (p *Process) number(command string) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.in, command)
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(line))
}
