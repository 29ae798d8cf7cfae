package http

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/samplers/http/h1"
)

type oauth2 struct {
	TokenURL     expr.Text   `plan:"token_url,required" doc:"URL of the token endpoint"`
	ClientID     expr.Text   `plan:"client_id,required" doc:"the client's ID"`
	ClientSecret expr.Text   `plan:"client_secret,required" secret:"true" doc:"the client's secret"`
	Scopes       []expr.Text `plan:"scopes,single" doc:"scopes that are asked for"`
	Audience     expr.Text   `plan:"audience" doc:"audience that is asked for, where the server wants one"`
	ClientAuth   string      `plan:"client_auth" enum:"header|body" default:"header" doc:"where ID and secret stand: header (HTTP Basic) or body"`
}

const (
	tokenTimeout  = 30 * time.Second
	tokenPause    = time.Second // after a failure, before the next attempt
	tokenBody     = 1 << 20
	maxTokens     = 10_000 // different credentials in one run
	earliestRenew = time.Minute
)

type tokensKey struct{}

// tokens are the tokens of a run, shared by all threads.
type tokens struct {
	mu  sync.Mutex
	all map[tokenRequest]*token
}

// tokenRequest is what makes a token another one.
type tokenRequest struct {
	url, id, secret, scope, audience string
	inBody                           bool
}

// token is one token; busy holds an item while somebody fetches.
type token struct {
	busy chan struct{}

	mu      sync.Mutex
	text    string
	renew   time.Time // from when it is fetched anew while it is still used
	expires time.Time
	failed  error
	retry   time.Time
}

func (s *tokens) get(key tokenRequest) *token {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.all[key]
	if k == nil {
		if s.all == nil || len(s.all) >= maxTokens {
			s.all = map[tokenRequest]*token{}
		}
		k = &token{busy: make(chan struct{}, 1)}
		s.all[key] = k
	}
	return k
}

// state returns the token if it may be used, and whether it should be fetched.
func (k *token) state(now time.Time) (text string, due bool, failed error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	waiting := now.Before(k.retry)
	if k.text != "" && now.Before(k.expires) {
		return k.text, !now.Before(k.renew) && !waiting, nil
	}
	if waiting {
		return "", false, k.failed
	}
	return "", true, nil
}

// obtain sets x.token. The time that it takes is none of the sample's: its due
// and dispatched times move with it.
func (o *oauth2) obtain(ctx context.Context, x *exchange, t *element.Thread, s *element.Sample) error {
	key, err := o.request(t)
	if err != nil {
		return err
	}
	k := t.Plan.Value(tokensKey{}, func() any { return &tokens{} }).(*tokens).get(key)
	text, due, err := k.state(time.Now())
	if due {
		start := t.Now()
		text, err = o.renew(ctx, k, key, x, t, text)
		took := t.Now() - start
		s.Due, s.Dispatched, s.FreeSince = s.Due+took, s.Dispatched+took, s.FreeSince+took
	}
	x.token = text
	return err
}

func (o *oauth2) request(t *element.Thread) (key tokenRequest, err error) {
	err = evalAll(t, into{&o.TokenURL, &key.url}, into{&o.ClientID, &key.id}, into{&o.ClientSecret, &key.secret}, into{&o.Audience, &key.audience})
	if err != nil {
		return key, err
	}
	scopes := make([]string, len(o.Scopes))
	for i := range o.Scopes {
		if scopes[i], err = textOf(&o.Scopes[i], t); err != nil {
			return key, err
		}
	}
	key.scope, key.inBody = strings.Join(scopes, " "), o.ClientAuth == "body"
	return key, nil
}

// renew fetches the token unless somebody else does so: a thread that holds a
// usable one goes on with it, others wait.
func (o *oauth2) renew(ctx context.Context, k *token, key tokenRequest, x *exchange, t *element.Thread, usable string) (string, error) {
	select {
	case k.busy <- struct{}{}:
	default:
		if usable != "" {
			return usable, nil
		}
		select {
		case k.busy <- struct{}{}:
		case <-ctx.Done():
			return "", &element.Error{Class: element.Cancelled, Message: "cancelled while waiting for the OAuth 2 token", Err: ctx.Err()}
		}
	}
	defer func() { <-k.busy }()
	text, due, err := k.state(time.Now())
	if !due {
		return text, err
	}
	fetched, life, err := fetchToken(ctx, key, x.client.Config())
	k.keep(fetched, life, err, time.Now())
	if err != nil {
		if usable != "" {
			return usable, nil
		}
		return "", err
	}
	t.Masker.Add(fetched)
	return fetched, nil
}

func (k *token) keep(text string, life time.Duration, err error, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.failed, k.retry = err, now.Add(tokenPause)
		return
	}
	k.text, k.failed, k.retry = text, nil, time.Time{}
	k.expires = now.Add(life)
	k.renew = k.expires.Add(-min(life/5, earliestRenew))
}

// fetchToken asks the token endpoint over a connection of its own.
func fetchToken(ctx context.Context, key tokenRequest, cfg *h1.Config) (string, time.Duration, error) {
	u, err := h1.ParseURL(key.url)
	if err != nil {
		return "", 0, &element.Error{Class: element.Expression, Message: "oauth2.token_url: " + err.Error(), Err: err}
	}
	client := h1.NewClient(cfg, nil)
	defer client.Close()
	form := appendPair(nil, "grant_type", "client_credentials")
	form = appendPair(form, "scope", key.scope)
	form = appendPair(form, "audience", key.audience)
	head := "User-Agent: " + UserAgent + "\r\nAccept: application/json\r\nContent-Type: application/x-www-form-urlencoded\r\n"
	if key.inBody {
		form = appendPair(appendPair(form, "client_id", key.id), "client_secret", key.secret)
	} else {
		pair := string(appendForm(nil, key.id)) + ":" + string(appendForm(nil, key.secret))
		head += "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(pair)) + "\r\n"
	}
	var res h1.Response
	defer res.Release()
	err = client.Do(ctx, &h1.Request{TLS: u.TLS, Addr: u.Addr(), Method: "POST", Target: []byte(u.Target), Head: []byte(head), Body: form,
		NoCookies: true, NeedBody: true, MaxBody: tokenBody, Timeouts: h1.Timeouts{Total: tokenTimeout}}, &res)
	if failure := h1.AsError(err); failure != nil {
		return "", 0, &element.Error{Class: element.Class(failure.Class), Message: "OAuth 2 token: " + failure.Message, Err: failure.Err}
	}
	if res.Status != 200 {
		return "", 0, &element.Error{Class: element.Status, Message: "OAuth 2 token: the endpoint answered with status " + strconv.Itoa(res.Status)}
	}
	text, life, err := parseToken(res.Body)
	if err != nil {
		return "", 0, &element.Error{Class: element.Protocol, Message: "OAuth 2 token: " + err.Error(), Err: err}
	}
	return text, life, nil
}

func appendPair(form []byte, name, value string) []byte {
	if value == "" {
		return form
	}
	if len(form) > 0 {
		form = append(form, '&')
	}
	return appendForm(append(appendForm(form, name), '='), value)
}

// forever is the life of a token that does not say when it expires.
const forever = 100 * 365 * 24 * time.Hour

func parseToken(body []byte) (string, time.Duration, error) {
	var answer struct {
		Token   string      `json:"access_token"`
		Type    string      `json:"token_type"`
		Expires json.Number `json:"expires_in"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", 0, errors.New("the answer is not JSON with an access_token")
	}
	if answer.Token == "" || h1.ValidHeader("Authorization", answer.Token) != nil {
		return "", 0, errors.New("the answer has no valid access_token")
	}
	if answer.Type != "" && !strings.EqualFold(answer.Type, "bearer") {
		return "", 0, errors.New("the token is not of type bearer")
	}
	seconds, err := answer.Expires.Float64()
	if answer.Expires == "" || err != nil || math.IsNaN(seconds) || seconds <= 0 || seconds > forever.Seconds() {
		return answer.Token, forever, nil
	}
	return answer.Token, time.Duration(seconds * float64(time.Second)), nil
}
