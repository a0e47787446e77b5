-- SPDX-License-Identifier: MIT
-- Requests for wrk, told what to do by its environment (one wrk thread):
--   METHOD, HEADERS (lines `Name: value`), and BODY (a file) for PUT
--   TARGET   path and query; %d in it becomes a number, 1 for the first request and so on
--   NUMBERS  how many numbers there are, after which they begin again (0: no end)
--   COUNT    make only so many, and stop once all were answered ACCEPTED (else wrk's -d decides)
-- done() prints one JSON line that load.py reads.
local count = tonumber(os.getenv("COUNT") or "0")
local numbers = tonumber(os.getenv("NUMBERS") or "0")
local accepted = tonumber(os.getenv("ACCEPTED") or "202")
local target = os.getenv("TARGET")
local method = os.getenv("METHOD")
local n, answered = -1, 0 -- wrk asks for one request that it does not send

local function body()
    local path = os.getenv("BODY")
    if not path then return nil end
    local f = assert(io.open(path))
    local text = f:read("*a")
    f:close()
    return text
end

function init(args)
    for name, value in os.getenv("HEADERS"):gmatch("([^\n:]+): ([^\n]*)") do
        wrk.headers[name] = value
    end
    wrk.body = body()
    if count == 0 then response = nil end -- parsing replies costs the generator
    if not target:find("%%d") then
        wrk.method, wrk.path, request = method, target, nil
    end
end

function request()
    if count == 0 or n < count then n = n + 1 end
    local number = numbers > 0 and (n - 1) % numbers + 1 or n
    return wrk.format(method, (target:gsub("%%d", number)))
end

-- What is asked for once more while the last answers are awaited gets 200.
function response(status)
    if status ~= accepted then return end
    answered = answered + 1
    if answered == count then
        io.write("accepted\n") -- wrk itself sleeps until -d is over: load.py interrupts it
        io.flush()
        wrk.thread:stop()
    end
end

function done(summary, latency)
    local e = summary.errors
    io.write(string.format(
        '{"requests": %d, "us": %d, "failed": %d, "p50_us": %d, "p99_us": %d}\n',
        summary.requests, summary.duration,
        e.connect + e.read + e.write + e.status + e.timeout,
        latency:percentile(50), latency:percentile(99)))
end
