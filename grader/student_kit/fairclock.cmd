@"%~dp0python.exe" "%~dp0fairclock" %*
